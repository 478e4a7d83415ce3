// The camera, as pictures of about 640 x 480 pixels.

import { draw } from "./pictures.js";

const WANTED = { video: { width: { ideal: 640 }, height: { ideal: 480 }, facingMode: "user" } };

export class Camera {
  #stream = null;
  #video = null;
  #onEnd;

  // `onEnd` is told why the camera ended by itself.
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  // What runs, or nothing.
  get stream() {
    return this.#stream;
  }

  get running() {
    return Boolean(this.#stream);
  }

  async start() {
    if (!navigator.mediaDevices) {
      throw new Error("The camera cannot be used: browsers allow it only over HTTPS, or on this computer.");
    }
    const stream = await navigator.mediaDevices.getUserMedia(WANTED).catch((error) => {
      throw new Error(`The camera cannot be used: ${error.message || error.name}.`);
    });
    const video = document.createElement("video");
    video.srcObject = stream;
    video.muted = true;
    video.playsInline = true;
    for (const track of stream.getTracks()) track.onended = () => this.#onEnd("The camera was disconnected.");
    await video.play();
    // Another start, while this one waited.
    this.stop();
    [this.#stream, this.#video] = [stream, video];
    return stream;
  }

  // What the camera sees.
  picture() {
    return draw(this.#video, this.#video.videoWidth, this.#video.videoHeight);
  }

  // The browser then shows that the camera is off.
  stop() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    [this.#stream, this.#video] = [null, null];
  }
}
