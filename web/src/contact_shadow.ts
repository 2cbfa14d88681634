// The soft dark patch where a character meets the ground: the scene seen from below the floor, darker the nearer it
// is, blurred. Complements the shadow of the key light.
import {
  Color, LinearFilter, Mesh, OrthographicCamera, PlaneGeometry, type Scene, ShaderMaterial, Vector2, type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import { CONTACT_LAYER } from "./skin";

const RESOLUTION = 384;

const HEIGHT_VERTEX = `
varying float height;
void main() {
  vec4 view = modelViewMatrix * vec4(position, 1.0);
  height = -view.z;
  gl_Position = projectionMatrix * view;
}`;
const HEIGHT_FRAGMENT = `
uniform float reach;
varying float height;
void main() {
  float nearness = clamp(1.0 - height / reach, 0.0, 1.0);
  gl_FragColor = vec4(vec3(nearness * nearness), 1.0);
}`;
const PASS_VERTEX = `
varying vec2 place;
void main() {
  place = uv;
  gl_Position = vec4(position.xy, 0.0, 1.0);
}`;
const BLUR_FRAGMENT = `
uniform sampler2D image;
uniform vec2 direction;
varying vec2 place;
void main() {
  float sum = 0.0;
  float weights = 0.0;
  for (int i = -6; i <= 6; ++i) {
    float weight = exp(-0.09 * float(i * i));
    sum += weight * texture2D(image, place + float(i) * direction).r;
    weights += weight;
  }
  gl_FragColor = vec4(vec3(sum / weights), 1.0);
}`;

/// Draws the contact shadow into a texture.
export class ContactShadow {
  /// Half the width of the square on the ground that the texture covers, in metres.
  halfWidth = 1;
  private readonly camera = new OrthographicCamera(-1, 1, 1, -1, 0, 1);
  private readonly targets = [0, 1].map(() => new WebGLRenderTarget(RESOLUTION, RESOLUTION, {
    minFilter: LinearFilter, magFilter: LinearFilter,
  }));
  private readonly heights = new ShaderMaterial({
    vertexShader: HEIGHT_VERTEX, fragmentShader: HEIGHT_FRAGMENT, uniforms: { reach: { value: 1 } }, side: 2,
  });
  private readonly blur = new ShaderMaterial({
    vertexShader: PASS_VERTEX, fragmentShader: BLUR_FRAGMENT, depthTest: false, depthWrite: false,
    uniforms: { image: { value: null }, direction: { value: new Vector2() } },
  });
  private readonly quad = new Mesh(new PlaneGeometry(2, 2), this.blur);
  private readonly black = new Color(0);
  private readonly clearColour = new Color();

  constructor() {
    this.quad.frustumCulled = false;
    this.quad.layers.set(CONTACT_LAYER);
    this.camera.layers.set(CONTACT_LAYER);
    this.camera.rotation.x = Math.PI / 2;  // looks straight up
  }

  /// Brightness is the strength of the shadow.
  get texture(): WebGLRenderTarget["texture"] {
    return this.targets[0]!.texture;
  }

  /// Draws what stands on the ground around (x, z); `reach` is the height in metres up to which things darken it.
  render(renderer: WebGLRenderer, scene: Scene, x: number, ground: number, z: number, reach: number): void {
    const { camera, halfWidth } = this;
    camera.left = camera.bottom = -halfWidth;
    camera.right = camera.top = halfWidth;
    camera.far = reach;
    camera.near = -0.05 * reach;
    camera.position.set(x, ground, z);
    camera.updateProjectionMatrix();
    this.heights.uniforms["reach"]!.value = reach;

    const alpha = renderer.getClearAlpha();
    renderer.getClearColor(this.clearColour);
    const shadows = renderer.shadowMap.needsUpdate;
    renderer.shadowMap.needsUpdate = false;
    scene.overrideMaterial = this.heights;
    renderer.setClearColor(this.black, 1);
    renderer.setRenderTarget(this.targets[0]!);
    renderer.clear();
    renderer.render(scene, camera);
    scene.overrideMaterial = null;
    this.blurInto(renderer, 1.4);
    this.blurInto(renderer, 0.6);
    renderer.setRenderTarget(null);
    renderer.setClearColor(this.clearColour, alpha);
    renderer.shadowMap.needsUpdate = shadows;
  }

  private blurInto(renderer: WebGLRenderer, spread: number): void {
    const [a, b] = this.targets as [WebGLRenderTarget, WebGLRenderTarget];
    const direction = this.blur.uniforms["direction"]!.value as Vector2;
    for (const [from, to, dx, dy] of [[a, b, spread, 0], [b, a, 0, spread]] as const) {
      this.blur.uniforms["image"]!.value = from.texture;
      direction.set(dx / RESOLUTION, dy / RESOLUTION);
      renderer.setRenderTarget(to);
      renderer.render(this.quad, this.camera);
    }
  }
}
