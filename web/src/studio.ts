// The light of the studio, made in code: a warm key light that casts shadows, a cool fill, a rim light from behind,
// and the light that walls, ceiling and floor send back as spherical harmonics. Without an environment image: the
// first picture is there at once, also where the graphics card is a program.
import { Color, DirectionalLight, Group, LightProbe, ShaderChunk, SphericalHarmonics3, Vector3 } from "three";

const SHADOW_MAP_SIZE = 1024;
const SHADOW_BLUR = 4;  // texels
const SAMPLES = 2048;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

// The renderer's soft shadows take five samples in a pattern that is turned at random from pixel to pixel, which
// shows as grain. More samples in a fixed pattern are smooth.
ShaderChunk.shadowmap_pars_fragment = ShaderChunk.shadowmap_pars_fragment.replace(
  /shadow = \(\s*texture\( shadowMap, vec3\( shadowCoord\.xy \+ vogelDiskSample\( 0, 5[\s\S]*?\* 0\.2;/,
  `shadow = 0.0;
  for (int i = 0; i < 14; ++i) shadow += texture(shadowMap, vec3(shadowCoord.xy + vogelDiskSample(i, 14, 0.0) * radius, shadowCoord.z));
  shadow /= 14.0;`);

/// A directional light: where it comes from, its colour and its strength.
interface Lamp {
  from: Vector3;
  colour: Color;
  strength: number;
}

const KEY: Lamp = { from: new Vector3(0.62, 1.2, 0.9).normalize(), colour: new Color(0xfff1e2), strength: 3.1 };
const FILL: Lamp = { from: new Vector3(-1, 0.35, 0.7).normalize(), colour: new Color(0xd8e6ff), strength: 0.35 };
const RIM: Lamp = { from: new Vector3(-0.7, 0.75, -1).normalize(), colour: new Color(0xe6efff), strength: 2.6 };
const KICK: Lamp = { from: new Vector3(1, 0.25, -0.75).normalize(), colour: new Color(0xffe3cf), strength: 0.7 };

const FLOOR = new Color(0.1, 0.08, 0.07);
const WALLS = new Color(0.11, 0.12, 0.145);
const CEILING = new Color(0.34, 0.38, 0.45);

/// What comes back from the room in a direction.
function roomLight(direction: Vector3, out: Vector3): Vector3 {
  const up = direction.y;
  const t = Math.min(1, Math.abs(up) / 0.85);
  const share = t * t * (3 - 2 * t);
  const colour = WALLS.clone().lerp(up > 0 ? CEILING : FLOOR, share);
  // A large softbox around the key light, so that shadows are not black on its side.
  const soft = 0.45 * Math.max(0, direction.dot(KEY.from)) ** 3;
  return out.set(colour.r + soft, colour.g + 0.93 * soft, colour.b + 0.85 * soft);
}

/// The room as a light probe, by summing over directions spread evenly on the sphere.
function roomProbe(): LightProbe {
  const harmonics = new SphericalHarmonics3();
  const basis = new Array<number>(9).fill(0);
  const direction = new Vector3();
  const light = new Vector3();
  for (let i = 0; i < SAMPLES; ++i) {
    const y = 1 - (2 * (i + 0.5)) / SAMPLES;
    const r = Math.sqrt(1 - y * y);
    direction.set(r * Math.cos(GOLDEN_ANGLE * i), y, r * Math.sin(GOLDEN_ANGLE * i));
    SphericalHarmonics3.getBasisAt(direction, basis);
    roomLight(direction, light);
    for (let j = 0; j < 9; ++j) harmonics.coefficients[j]!.addScaledVector(light, (basis[j]! * 4 * Math.PI) / SAMPLES);
  }
  return new LightProbe(harmonics, 1);
}

/// The lights around a character.
export class Studio {
  readonly group = new Group();
  private readonly lights: { light: DirectionalLight; lamp: Lamp }[];

  /// With `shadows` the key light casts them.
  constructor(private readonly shadows: boolean) {
    this.lights = [KEY, FILL, RIM, KICK].map((lamp) => ({ light: new DirectionalLight(lamp.colour, lamp.strength), lamp }));
    for (const { light, lamp } of this.lights) {
      light.position.copy(lamp.from);
      this.group.add(light, light.target);
    }
    this.group.add(roomProbe());
    if (!shadows) return;
    const { shadow } = this.lights[0]!.light;
    this.lights[0]!.light.castShadow = true;
    shadow.mapSize.set(SHADOW_MAP_SIZE, SHADOW_MAP_SIZE);
    shadow.radius = SHADOW_BLUR;
    shadow.bias = -0.0004;
  }

  /// Moves the lights to a character of some size, in metres.
  follow(centre: Vector3, size: number): void {
    for (const { light, lamp } of this.lights) {
      light.target.position.copy(centre);
      light.position.copy(centre).addScaledVector(lamp.from, 5 * size);
    }
    if (!this.shadows) return;
    const { shadow } = this.lights[0]!.light;
    const extent = 1.75 * size;
    shadow.camera.left = shadow.camera.bottom = -extent;
    shadow.camera.right = shadow.camera.top = extent;
    shadow.camera.near = size;
    shadow.camera.far = 10 * size;
    shadow.camera.updateProjectionMatrix();
    shadow.normalBias = (0.8 * SHADOW_BLUR * 2 * extent) / SHADOW_MAP_SIZE;
  }
}
