// The light of the studio as an image around the scene: a soft gradient from floor to ceiling with three softboxes,
// modelled in code and filtered for shading.
import {
  BackSide, Color, DoubleSide, Mesh, MeshBasicMaterial, PlaneGeometry, PMREMGenerator, Scene, ShaderMaterial,
  SphereGeometry, type Texture, type WebGLRenderer,
} from "three";

const SKY_VERTEX = `
varying vec3 direction;
void main() {
  direction = position;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
const SKY_FRAGMENT = `
uniform vec3 floorColour;
uniform vec3 wallColour;
uniform vec3 ceilingColour;
varying vec3 direction;
void main() {
  float y = normalize(direction).y;
  vec3 colour = y < 0.0 ? mix(wallColour, floorColour, smoothstep(0.0, 0.7, -y)) : mix(wallColour, ceilingColour, smoothstep(0.0, 0.8, y));
  gl_FragColor = vec4(colour, 1.0);
}`;

/// A softbox: position, width, height, colour and brightness.
function softbox(x: number, y: number, z: number, width: number, height: number, colour: number, brightness: number): Mesh {
  const material = new MeshBasicMaterial({ side: DoubleSide });
  material.color = new Color(colour).multiplyScalar(brightness);
  const panel = new Mesh(new PlaneGeometry(width, height), material);
  panel.position.set(x, y, z);
  panel.lookAt(0, 0, 0);
  return panel;
}

/// Makes the environment; belongs to the renderer it was made with.
export function makeEnvironment(renderer: WebGLRenderer): Texture {
  const studio = new Scene();
  studio.add(new Mesh(new SphereGeometry(30, 32, 16), new ShaderMaterial({
    side: BackSide, depthWrite: false, vertexShader: SKY_VERTEX, fragmentShader: SKY_FRAGMENT,
    uniforms: {
      floorColour: { value: new Color(0.2, 0.17, 0.155) },
      wallColour: { value: new Color(0.3, 0.31, 0.34) },
      ceilingColour: { value: new Color(0.52, 0.56, 0.63) },
    },
  })));
  studio.add(softbox(6, 9, 8, 8, 6, 0xfff1e0, 7));     // key: warm, front left of the character
  studio.add(softbox(-11, 4, 5, 5, 10, 0xdfeaff, 2.4));  // fill: cool, large, weaker
  studio.add(softbox(-5, 7, -11, 9, 5, 0xffffff, 6));    // rim: behind
  studio.add(softbox(0, 14, 0, 10, 10, 0xffffff, 2));    // ceiling
  const generator = new PMREMGenerator(renderer);
  const texture = generator.fromScene(studio, 0.035).texture;
  generator.dispose();
  studio.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    (object.geometry as PlaneGeometry).dispose();
    (object.material as MeshBasicMaterial).dispose();
  });
  return texture;
}
