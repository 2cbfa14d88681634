// The stage: renderer, lights, floor, and the drawing of one or two views with the bones over them.
import {
  NeutralToneMapping, Color, type Object3D, PCFShadowMap, type PerspectiveCamera, Scene, Vector3, WebGLRenderer,
} from "three";
import { ContactShadow } from "./contact_shadow";
import { Ground, type GroundLook } from "./ground";
import { Studio } from "./studio";
import type { Shown } from "./theme";

/// A rectangle on the canvas in CSS pixels, from its top left corner.
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/// What one view shows: objects of the scene, objects drawn over it, and where. The camera's own picture fills
/// `fit`, which lies in `rect`; what is in `rect` around it is drawn as well.
export interface View {
  objects: Object3D[];
  over: Object3D[];
  rect: Rect;
  fit: Rect;
}

/// Where the character is at the moment: centre in metres, and its size.
export interface Subject {
  centre: Vector3;
  ground: number;
  radius: number;
  height: number;
}

const GROUND_LOOKS: Readonly<Record<Shown, GroundLook>> = {
  dark: { line: new Color(0xb9c4d6), lineStrength: 0.11, pool: new Color(0xdde3ec), poolStrength: 0.34, contact: 0.75, shadow: 0.42 },
  light: { line: new Color(0x4a5568), lineStrength: 0.09, pool: new Color(0xffffff), poolStrength: 0.5, contact: 0.42, shadow: 0.24 },
};

/// Exposure of the picture: a bright backdrop asks for a brighter character.
const EXPOSURES: Readonly<Record<Shown, number>> = { dark: 1.12, light: 1.32 };

/// Owns everything that draws.
export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  /// Drawn after the scene, over it.
  readonly overScene = new Scene();
  readonly ground: Ground;
  private readonly contact = new ContactShadow();
  private readonly studio = new Studio(true);
  private readonly subject: Subject = { centre: new Vector3(), ground: 0, radius: 1, height: 1 };
  private shadowsStale = true;

  constructor(canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "high-performance" });
    this.renderer.setClearColor(0, 0);
    this.renderer.autoClear = false;
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    canvas.addEventListener("webglcontextrestored", () => this.touchShadows());
    this.ground = new Ground(this.contact.texture);
    this.scene.add(this.studio.group, this.ground.group);
    this.overScene.add(new Studio(false).group);
  }

  /// Sets light and floor to a theme.
  setTheme(theme: Shown): void {
    this.ground.setLook(GROUND_LOOKS[theme]);
    this.renderer.toneMappingExposure = EXPOSURES[theme];
  }

  /// Sets the size of the canvas in CSS pixels.
  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
  }

  /// Moves lights and floor to where the character is.
  follow(subject: Subject): void {
    Object.assign(this.subject, subject, { centre: this.subject.centre.copy(subject.centre) });
    const { centre, ground, radius, height } = this.subject;
    const size = Math.max(radius, 0.5 * height);
    this.studio.follow(centre, size);
    this.contact.halfWidth = 1.35 * radius + 0.15 * height;
    this.ground.place(centre.x, ground, centre.z, size, this.contact.halfWidth);
    this.shadowsStale = true;
  }

  /// To be called when something that casts shadows has changed.
  touchShadows(): void {
    this.shadowsStale = true;
  }

  /// Draws the views with the camera.
  draw(views: View[], camera: PerspectiveCamera): void {
    const { renderer } = this;
    renderer.setScissorTest(false);
    renderer.clear();
    renderer.setScissorTest(true);
    const canvasHeight = renderer.domElement.height / renderer.getPixelRatio();
    for (const view of views) {
      for (const other of views) for (const object of [...other.objects, ...other.over]) object.visible = false;
      for (const object of [...view.objects, ...view.over]) object.visible = true;
      if (this.shadowsStale || views.length > 1) this.drawShadows();
      const { x, y, width, height } = view.rect;
      renderer.setViewport(x, canvasHeight - y - height, width, height);
      renderer.setScissor(x, canvasHeight - y - height, width, height);
      this.aim(view, camera);
      renderer.render(this.scene, camera);
      if (view.over.length === 0) continue;
      renderer.clearDepth();
      renderer.render(this.overScene, camera);
    }
    for (const view of views) for (const object of [...view.objects, ...view.over]) object.visible = true;
  }

  /// Sets the camera's projection to that of a view.
  aim({ rect, fit }: View, camera: PerspectiveCamera): void {
    camera.aspect = fit.width / fit.height;
    camera.setViewOffset(fit.width, fit.height, rect.x - fit.x, rect.y - fit.y, rect.width, rect.height);
    camera.updateProjectionMatrix();
  }

  private drawShadows(): void {
    const { centre, ground, height } = this.subject;
    this.renderer.shadowMap.needsUpdate = true;
    this.renderer.setScissorTest(false);
    if (this.ground.group.visible) {
      this.ground.group.visible = false;
      this.contact.render(this.renderer, this.scene, centre.x, ground, centre.z, 0.45 * height);
      this.ground.group.visible = true;
    }
    this.renderer.setScissorTest(true);
    this.shadowsStale = false;
  }
}
