// Runs the command `orrery` for the examples and shows it, so that each step can be repeated by hand (docs/cli.md).
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createProgram } from '@orrery/cli/program';

/** Says what comes next. */
export const say = (text) => void process.stdout.write(`\n# ${text}\n`);

/** Runs a command and shows what it writes. */
export async function orrery(...args) {
  const output = await run(args);
  process.stdout.write(output);
}

/** The data that a command answers; the part of it that matters is shown. */
export async function orreryData(shown, ...args) {
  const data = JSON.parse(await run([...args, '--json']));
  process.stdout.write(`${JSON.stringify(shown(data))}\n`);
  return data;
}

/**
 * Applies the world whose files stand beside a script, and creates the deployment of its `deployment.json`, which runs all
 * events. The first instances are left to the script.
 * @param script its `import.meta.url`
 * @param says what the deployment is for
 */
export async function openWorld(script, { says, options = [] }) {
  const { name, instances } = JSON.parse(readFileSync(new URL('deployment.json', script), 'utf8'));
  say('The world, as the files of this folder have it');
  const folder = fileURLToPath(new URL('.', script));
  const { world } = await orreryData(
    ({ changes }) => ({ changes: changes.length }),
    'world',
    'apply',
    folder,
    '--yes',
  );
  say(says);
  const shown = (one) => ({ address: one.address, name: one.name });
  const create = ['deployments', 'create', world, name, '--bind-all', ...options];
  const { worldId, id, address } = await orreryData(shown, ...create);
  // By their numbers; `WORLD/DEPLOYMENT` takes names, too.
  return { deployment: `${worldId}/${id}`, address, instances };
}

/** Runs a command that is meant to be refused, and shows why it is. */
export async function refused(...args) {
  const output = await run(args).catch((error) => {
    process.stdout.write(`refused: ${error.message}\n`);
  });
  if (output !== undefined) throw new Error(`This was meant to be refused:\n${output}`);
}

export async function createInstances(deployment, instances) {
  for (const { entitySchema, instanceId, state = {} } of instances) {
    const attributes = Object.entries(state).map(
      ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
    );
    await orrery('instances', 'create', deployment, entitySchema, instanceId, ...attributes);
  }
}

/** In this process: to start one for each command would take most of the time. */
async function run(args) {
  process.stdout.write(`$ orrery ${args.map(quoted).join(' ')}\n`);
  let output = '';
  const program = createProgram({
    env: process.env,
    write: (line) => {
      output += `${line}\n`;
    },
    note: (line) => void process.stdout.write(`${line}\n`),
    confirm: async () => false,
  });
  await program.parseAsync(args, { from: 'user' });
  return output;
}

const quoted = (arg) => (/^[\w./:=@-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`);
