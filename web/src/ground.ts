// The floor: a pool of light, a grid of lines that fades out, the contact shadow, and the shadow of the key light.
import {
  CircleGeometry, Color, Group, Mesh, ShaderMaterial, ShadowMaterial, type Texture, Vector2,
} from "three";

const VERTEX = `
varying vec2 place;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xz;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;
const FRAGMENT = `
uniform vec2 centre;
uniform float radius;
uniform float cell;
uniform vec3 lineColour;
uniform float lineStrength;
uniform vec3 poolColour;
uniform float poolStrength;
uniform sampler2D contact;
uniform float contactHalfWidth;
uniform float contactStrength;
varying vec2 place;

float lines(float spacing) {
  vec2 at = place / spacing;
  vec2 width = fwidth(at);
  vec2 away = abs(fract(at - 0.5) - 0.5) / width;
  vec2 line = (1.0 - clamp(away, 0.0, 1.0)) * clamp(1.4 - 3.0 * width, 0.0, 1.0);
  return max(line.x, line.y);
}

void main() {
  float distance = length(place - centre) / radius;
  if (distance >= 1.0) discard;
  float fade = 1.0 - smoothstep(0.05, 0.75, distance);
  float grid = lineStrength * fade * max(lines(cell), 0.5 * lines(0.2 * cell));
  float pool = poolStrength * pow(1.0 - distance, 4.0);
  vec2 where = (place - centre) / (2.0 * contactHalfWidth) + 0.5;
  vec2 inside = smoothstep(vec2(0.0), vec2(0.06), where) * smoothstep(vec2(0.0), vec2(0.06), 1.0 - where);
  float shadow = contactStrength * inside.x * inside.y * texture2D(contact, where).r;

  // Layer over layer: pool, grid, shadow.
  vec3 light = mix(poolColour * pool, lineColour, grid) * (1.0 - shadow);
  float alpha = 1.0 - (1.0 - pool) * (1.0 - grid) * (1.0 - shadow);
  gl_FragColor = vec4(light / max(alpha, 1e-4), alpha);
  #include <colorspace_fragment>
  #include <premultiplied_alpha_fragment>
}`;

// In sizes of the character: where the floor has faded out, and where the key light's shadow has.
const FLOOR_RADIUS = 6.5;
const SHADOW_RADIUS = 2.1;

/// How the floor looks in a theme.
export interface GroundLook {
  line: Color;
  lineStrength: number;
  pool: Color;
  poolStrength: number;
  contact: number;
  shadow: number;
}

/// The floor under an exhibit.
export class Ground {
  readonly group = new Group();
  private readonly floor: ShaderMaterial;
  private readonly shadow = new ShadowMaterial({ transparent: true, depthWrite: false });
  private readonly floorMesh = new Mesh();
  private readonly shadowMesh = new Mesh(undefined, this.shadow);
  private readonly fade = { centre: { value: new Vector2() }, radius: { value: 1 }, shadowRadius: { value: 1 } };

  constructor(contact: Texture) {
    this.floor = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, premultipliedAlpha: true, depthWrite: false,
      uniforms: {
        ...this.fade, cell: { value: 1 }, lineColour: { value: new Color() }, lineStrength: { value: 0 },
        poolColour: { value: new Color() }, poolStrength: { value: 0 }, contact: { value: contact },
        contactHalfWidth: { value: 1 }, contactStrength: { value: 0.6 },
      },
    });
    this.shadow.onBeforeCompile = (shader) => this.fadeShadow(shader);
    const disc = new CircleGeometry(1, 96).rotateX(-Math.PI / 2);
    for (const [mesh, order] of [[this.floorMesh, -2], [this.shadowMesh, -1]] as const) {
      mesh.geometry = disc;
      mesh.renderOrder = order;
      mesh.frustumCulled = false;
      this.group.add(mesh);
    }
    this.floorMesh.material = this.floor;
    this.shadowMesh.receiveShadow = true;
  }

  /// Puts the floor under (x, z) at a height; `reach` is the size of what stands on it, `contactHalfWidth` what the
  /// contact texture covers. All in metres.
  place(x: number, height: number, z: number, reach: number, contactHalfWidth: number): void {
    this.group.position.set(x, height, z);
    this.fade.centre.value.set(x, z);
    this.fade.radius.value = FLOOR_RADIUS * reach;
    this.fade.shadowRadius.value = SHADOW_RADIUS * reach;
    this.floorMesh.scale.setScalar(FLOOR_RADIUS * reach);
    this.shadowMesh.scale.setScalar(SHADOW_RADIUS * reach);
    const power = 10 ** Math.floor(Math.log10(reach));
    this.floor.uniforms["cell"]!.value = reach / power >= 5 ? 5 * power : reach / power >= 2 ? 2 * power : power;
    this.floor.uniforms["contactHalfWidth"]!.value = contactHalfWidth;
  }

  /// Sets colours and strengths.
  setLook(look: GroundLook): void {
    const { uniforms } = this.floor;
    (uniforms["lineColour"]!.value as Color).copy(look.line);
    uniforms["lineStrength"]!.value = look.lineStrength;
    (uniforms["poolColour"]!.value as Color).copy(look.pool);
    uniforms["poolStrength"]!.value = look.poolStrength;
    uniforms["contactStrength"]!.value = look.contact;
    this.shadow.opacity = look.shadow;
  }

  /// Makes the key light's shadow fade out with the floor.
  private fadeShadow(shader: { uniforms: object; vertexShader: string; fragmentShader: string }): void {
    Object.assign(shader.uniforms, this.fade);
    shader.vertexShader = `varying vec2 place;\n${shader.vertexShader}`.replace(
      "#include <fog_vertex>", "place = (modelMatrix * vec4(position, 1.0)).xz;");
    shader.fragmentShader = `uniform vec2 centre;\nuniform float shadowRadius;\nvarying vec2 place;\n${shader.fragmentShader}`.replace(
      "opacity * ( 1.0 - getShadowMask() )",
      "opacity * (1.0 - getShadowMask()) * (1.0 - smoothstep(0.5, 1.0, length(place - centre) / shadowRadius))");
  }
}
