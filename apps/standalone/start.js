// `npm start`: checks, builds, and becomes the server, so that a signal to npm reaches it.
import '@orrery/service-kit/check-node';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { whyNotToStart } from './check-start.js';

async function start() {
  const reason = await whyNotToStart(process.env);
  if (reason !== undefined) return end(1, `orrery: ${reason}\n`);
  const code = await build();
  return code === 0 ? await import('./dist/bundle/main.js') : end(code);
}

/** The exit code of the build; 128 and the signal's number where it was stopped. A signal ends the build first. */
async function build() {
  const child = spawn('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const stop = (signal) => child.kill(signal);
  process.on('SIGTERM', stop).on('SIGINT', stop);
  const [code, signal] = await once(child, 'exit');
  process.off('SIGTERM', stop).off('SIGINT', stop);
  return signal === null ? code : STOPPED[signal] || 1;
}

const STOPPED = { SIGINT: 130, SIGTERM: 143 };

function end(code, text = '') {
  process.stderr.write(text);
  process.exitCode = code;
}

void start();
