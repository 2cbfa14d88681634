// The WebSocket to the server: sends requests, hands on what arrives, connects again when it is lost.

/// What a connection tells its owner.
export interface ConnectionEvents {
  opened(again: boolean): void;
  lost(): void;
  frame(exhibit: number, frame: number, buffer: ArrayBuffer): void;
  frameError(exhibit: number, frame: number, message: string): void;
  changed(exhibit: number, available: number, status: string): void;
  error(message: string): void;
}

/// Bytes before the chunk in a binary message.
export const FRAME_HEADER_BYTES = 64;

const FIRST_RETRY_MS = 400;
const LONGEST_RETRY_MS = 5000;
const FRAME_SIGNATURE = 0x464c5053;  // "SPLF", little-endian

/// A socket that stays open as long as there is a server.
export class Connection {
  private socket: WebSocket | null = null;
  private retryMs = FIRST_RETRY_MS;
  private openedBefore = false;
  private ended = false;

  constructor(private readonly events: ConnectionEvents) {
    this.connect();
  }

  get open(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /// Asks for frames of an exhibit, in this order.
  request(exhibit: number, frames: number[]): void {
    this.send({ type: "frames", exhibit, frames });
  }

  /// Makes the server forget all frames still waiting.
  cancel(): void {
    this.send({ type: "cancel" });
  }

  /// Stops connecting again; for an address that is no longer valid.
  end(): void {
    this.ended = true;
    this.socket?.close();
  }

  private send(message: object): void {
    if (this.open) this.socket?.send(JSON.stringify(message));
  }

  private connect(): void {
    const address = new URL("socket", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      this.events.opened(this.openedBefore);
      this.openedBefore = true;
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => this.retry();
    this.socket = socket;
  }

  private retry(): void {
    this.socket = null;
    if (this.ended) return;
    this.events.lost();
    setTimeout(() => this.connect(), this.retryMs);
    this.retryMs = Math.min(LONGEST_RETRY_MS, this.retryMs * 1.6);
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      this.receiveText(data);
      return;
    }
    if (data.byteLength < FRAME_HEADER_BYTES) return;
    const view = new DataView(data);
    if (view.getUint32(0, true) === FRAME_SIGNATURE)
      this.events.frame(view.getUint32(4, true), view.getInt32(8, true), data);
  }

  private receiveText(text: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(text) as Record<string, unknown>;
    } catch {
      return;
    }
    const number = (name: string): number => Number(message[name] ?? 0);
    const words = (name: string): string => String(message[name] ?? "");
    if (message["type"] === "frame_error") this.events.frameError(number("exhibit"), number("frame"), words("message"));
    else if (message["type"] === "changed") this.events.changed(number("exhibit"), number("available"), words("status"));
    else if (message["type"] === "error") this.events.error(words("message"));
  }
}
