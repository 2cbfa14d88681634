// The camera: orbit, pan and zoom by hand, named views, and framing that fits the character whatever the direction.
import { type Box3, MOUSE, PerspectiveCamera, TOUCH, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { CAMERA_VIEWS, type CameraName, type CameraView } from "./options";

const FIELD_OF_VIEW = 28;  // degrees, vertical
const MARGIN = 1.1;
const STEEPEST = 89.9;     // degrees; straight down has no upright
const FLIGHT_MS = 320;
const DEGREE = Math.PI / 180;

interface Flight {
  from: { target: Vector3; position: Vector3 };
  to: { target: Vector3; position: Vector3 };
  start: number;
}

/// A camera that knows what it looks at.
export class CameraRig {
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  readonly controls: OrbitControls;
  /// Centre of what is framed, in metres.
  readonly centre = new Vector3();
  /// Radius and half the height of the upright cylinder that is framed, in metres.
  radius = 1;
  halfHeight = 1;
  /// Whether somebody has moved the camera by hand since it was last sent somewhere.
  touched = false;
  private aspect = 1;
  private flight: Flight | null = null;

  constructor(element: HTMLElement, private readonly calm: () => boolean) {
    this.controls = new OrbitControls(this.camera, element);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.rotateSpeed = 0.75;
    this.controls.zoomToCursor = true;
    this.controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.controls.touches = { ONE: TOUCH.ROTATE, TWO: TOUCH.DOLLY_PAN };
    this.controls.addEventListener("start", () => {
      this.flight = null;
      this.touched = true;
    });
  }

  /// Sets what is framed, without moving the camera. A cylinder is used so that a turntable does not breathe.
  setSubject(box: Box3): void {
    box.getCenter(this.centre);
    const x = 0.5 * (box.max.x - box.min.x);
    const z = 0.5 * (box.max.z - box.min.z);
    const size = Math.max(Math.hypot(x, z), 0.5 * (box.max.y - box.min.y), 1e-6);
    this.radius = Math.max(Math.hypot(x, z), 0.02 * size);
    this.halfHeight = Math.max(0.5 * (box.max.y - box.min.y), 0.02 * size);
    this.controls.minDistance = 0.05 * size;
    this.controls.maxDistance = 60 * size;
  }

  /// Shape of the area the character has to fit into, width over height; keeps the zoom.
  setAspect(aspect: number): void {
    if (Math.abs(aspect - this.aspect) < 1e-6) return;
    const view = this.view();
    this.aspect = aspect;
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.setLength(this.fitDistance(view.elevation, aspect) / view.zoom);
    this.camera.position.copy(this.controls.target).add(offset);
  }

  /// Where the camera is, as direction and zoom.
  view(): CameraView {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const distance = Math.max(offset.length(), 1e-9);
    const elevation = Math.asin(Math.min(1, Math.max(-1, offset.y / distance))) / DEGREE;
    const azimuth = Math.atan2(offset.x, offset.z) / DEGREE;
    return { azimuth, elevation, zoom: this.fitDistance(elevation, this.aspect) / distance };
  }

  /// Moves the camera to a view of the whole subject, at once or in a short flight.
  go(to: CameraView | CameraName, flying: boolean): void {
    const view = typeof to === "string" ? CAMERA_VIEWS[to] : to;
    const elevation = Math.min(STEEPEST, Math.max(-STEEPEST, view.elevation));
    const position = directionOf(view.azimuth, elevation)
      .multiplyScalar(this.fitDistance(elevation, this.aspect) / view.zoom).add(this.centre);
    this.move(this.centre.clone(), position, flying);
  }

  /// Frames the subject from where the camera is.
  frame(): void {
    this.go({ ...this.view(), zoom: 1 }, true);
  }

  /// Turns around a point from now on, and comes a little nearer to it.
  focus(point: Vector3): void {
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(0.75);
    this.move(point.clone(), point.clone().add(offset), true);
    this.touched = true;
  }

  /// Advances flights and inertia; returns whether the camera moved.
  update(now: number): boolean {
    const { flight } = this;
    if (!flight) return this.controls.update();
    const t = Math.min(1, (now - flight.start) / FLIGHT_MS);
    const eased = t * t * (3 - 2 * t);
    this.controls.target.lerpVectors(flight.from.target, flight.to.target, eased);
    const from = flight.from.position.clone().sub(flight.from.target);
    const to = flight.to.position.clone().sub(flight.to.target);
    const length = from.length() + eased * (to.length() - from.length());
    const direction = from.normalize().lerp(to.normalize(), eased);
    if (direction.lengthSq() < 1e-6) direction.set(1, 0, 0);
    this.camera.position.copy(direction.setLength(length)).add(this.controls.target);
    if (t >= 1) this.flight = null;
    this.controls.update();
    return true;
  }

  /// Sets the planes that bound what is drawn; to be called before drawing.
  setDepthRange(camera: PerspectiveCamera): void {
    const distance = camera.position.distanceTo(this.controls.target);
    const size = Math.max(this.radius, this.halfHeight);
    camera.near = Math.max(0.01 * distance, distance - 40 * size, 1e-5);
    camera.far = distance + 40 * size;
  }

  /// A camera for a picture of another shape: the same direction, target and zoom.
  cameraFor(aspect: number): PerspectiveCamera {
    const camera = this.camera.clone();
    camera.clearViewOffset();
    const { elevation, zoom } = this.view();
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.setLength(this.fitDistance(elevation, aspect) / zoom);
    camera.position.copy(this.controls.target).add(offset);
    camera.aspect = aspect;
    return camera;
  }

  private move(target: Vector3, position: Vector3, flying: boolean): void {
    this.touched = false;
    if (flying && !this.calm()) {
      const from = { target: this.controls.target.clone(), position: this.camera.position.clone() };
      this.flight = { from, to: { target, position }, start: performance.now() };
      return;
    }
    this.flight = null;
    this.controls.enableDamping = false;  // drops what is left of a swing
    this.controls.update();
    this.controls.target.copy(target);
    this.camera.position.copy(position);
    this.controls.update();
    this.controls.enableDamping = true;
  }

  /// Distance from which the cylinder just fits. A point at (x, y, z) in a camera frame whose z axis points to the
  /// camera is inside when |y| <= t (d − z) and |x| <= t a (d − z), with t = tan(half the field of view).
  private fitDistance(elevation: number, aspect: number): number {
    const t = Math.tan(0.5 * FIELD_OF_VIEW * DEGREE);
    const sin = Math.sin(elevation * DEGREE);
    const cos = Math.cos(elevation * DEGREE);
    let distance = 0;
    for (let i = 0; i < 32; ++i)
      for (const height of [-this.halfHeight, this.halfHeight]) {
        const x = this.radius * Math.sin((i * Math.PI) / 16);
        const front = this.radius * Math.cos((i * Math.PI) / 16);
        const y = height * cos - front * sin;
        const z = height * sin + front * cos;
        distance = Math.max(distance, z + Math.abs(y) / t, z + Math.abs(x) / (t * aspect));
      }
    return MARGIN * distance;
  }
}

function directionOf(azimuth: number, elevation: number): Vector3 {
  const a = azimuth * DEGREE;
  const e = elevation * DEGREE;
  return new Vector3(Math.sin(a) * Math.cos(e), Math.sin(e), Math.cos(a) * Math.cos(e));
}
