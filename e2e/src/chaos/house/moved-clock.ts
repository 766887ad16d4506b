import { readFileSync } from 'node:fs';

// Imported by a service before its program: its wall clock is wrong by the milliseconds that a file says. Timers and
// `performance.now()` go by the monotonic clock, which nobody moves.

const file = process.env['CLOCK_OFFSET_FILE'] ?? '';
const LOOK_EVERY_MS = 100;
const RealDate = Date;
let offset = read();

function read(): number {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}

setInterval(() => {
  offset = read();
}, LOOK_EVERY_MS).unref();

const now = () => RealDate.now() + offset;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  apply: (target) => new target(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
