// Before the build, so it uses nothing that is built: what is plainly wrong is known at once, not after the build.
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';

const FILES = ['PAYMENTS_FILE', 'AI_MODELS_FILE', 'CHAINS_FILE'];

/**
 * Why a start cannot succeed, or undefined. What the files hold, and all other variables, are checked at the start.
 * @returns {Promise<string | undefined>}
 */
export async function whyNotToStart({ PORT, HOST, ...env }) {
  const [port, host] = [Number(PORT || 3000), HOST || '127.0.0.1'];
  const isPort = Number.isInteger(port) && port >= 0 && port < 65_536;
  const problems = FILES.flatMap((name) => (env[name] ? unreadable(name, env[name]) : []));
  if (!isPort) problems.unshift('PORT (not valid; expected a whole number from 0 to 65535)');
  if (problems.length > 0)
    return `Correct these environment variables and start again: ${problems.join('; ')}`;
  if (port === 0 || !(await isInUse(port, host))) return undefined;
  const advice = `stop the program that holds it or set PORT to another port, as in \`PORT=${port + 1} npm start\`, for a second Orrery in this folder \`ORRERY_DATA_DIR=.orrery-2 PORT=${port + 1} npm start\``;
  return `Port ${port} on ${host} is in use: ${advice}.`;
}

function unreadable(name, file) {
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch ({ code }) {
    return [
      `${name} (${file}: ${code === 'ENOENT' ? 'there is no such file' : `it cannot be read, ${code}`})`,
    ];
  }
}

/** Other errors too are named at the start. */
const isInUse = (port, host) =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', ({ code }) => resolve(code === 'EADDRINUSE'))
      .listen(port, host, () => server.close(() => resolve(false)));
  });
