// Sounds, made without files. A browser allows them after the first click or key.

import {onState} from "./program.js";

// Tones: frequency in Hz, start and length in seconds, loudness.
const SOUNDS = {
  move: [[190, 0, 0.05, 0.5], [900, 0, 0.02, 0.25]],
  capture: [[190, 0, 0.05, 0.5], [900, 0, 0.02, 0.25], [240, 0.07, 0.05, 0.4]],
  check: [[190, 0, 0.05, 0.5], [660, 0.06, 0.12, 0.25], [880, 0.16, 0.16, 0.25]],
  end: [[523, 0, 0.2, 0.25], [659, 0.16, 0.2, 0.25], [784, 0.32, 0.4, 0.25]],
  beep: [[1000, 0, 0.08, 0.2]],
};
let context = null, mute = false;

onState("preferences", preferences => { ({mute} = preferences); });

export function playSound(name) {
  if (mute) return;
  context = context || new AudioContext();
  if (context.state === "suspended") context.resume();
  for (const tone of SOUNDS[name]) playTone(...tone);
}

function playTone(frequency, start, seconds, loudness) {
  const tone = context.createOscillator(), volume = context.createGain(), begin = context.currentTime + start;
  tone.type = frequency < 300 ? "triangle" : "sine";
  tone.frequency.value = frequency;
  volume.gain.setValueAtTime(loudness, begin);
  volume.gain.exponentialRampToValueAtTime(0.001, begin + seconds);
  tone.connect(volume).connect(context.destination);
  tone.start(begin);
  tone.stop(begin + seconds);
}
