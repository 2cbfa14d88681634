// Those who wait until what they asked for is on screen.

interface Waiter {
  strict: boolean;
  resolve(): void;
  reject(problem: Error): void;
}

/// A list of promises that are kept together.
export class Waiting {
  private readonly waiters: Waiter[] = [];

  /// A promise to be kept at the next answer; a strict one is broken when there is something wrong then.
  add(strict: boolean): Promise<void> {
    return new Promise((resolve, reject) => this.waiters.push({ strict, resolve, reject }));
  }

  /// Keeps all promises, or breaks the strict ones with the message of what is wrong.
  answer(problem: string | null): void {
    for (const { resolve, reject, strict } of this.waiters.splice(0))
      if (strict && problem !== null) reject(new Error(problem));
      else resolve();
  }
}
