import { createOrrery, type LiveEntry, OrreryError, type StreamEvent } from '@orrery/sdk';
import { type Command, Option } from 'commander';
import { type DeploymentReference, findDeployment } from '../operations/references.js';
import { cellOf } from '../operations/show-answer.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import { failureOf } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { wholeNumber } from '../terminal/options.js';

interface StreamOptions extends ServerOptions {
  readonly after?: number;
  readonly include?: 'all';
  readonly count?: number;
  readonly json?: true;
}

/** `orrery stream`: what happens in a deployment, a line each, until Ctrl-C. */
export function addStreamCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('stream')
    .description('follow a deployment: each execution as it is committed, without a gap')
    .argument('<deployment>', 'a deployment as WORLD/DEPLOYMENT, or one of yours alone')
    .option(
      '--after <seq>',
      'begin after this entry of the journal, 0 for all of it; by default now',
      wholeNumber,
    )
    .addOption(new Option('--include <all>', 'tell written instances, settings … too').choices(['all']))
    .option('--count <number>', 'end after this many', wholeNumber);
  withServerOptions(command)
    .option('--json', 'print each as JSON, on a line of its own')
    .action(async (deployment: string, options: StreamOptions) => {
      const server = await serverOf(options, context);
      const found = await findDeployment(server, deployment);
      await follow(server, found, options, context);
    });
}

/** @throws Refusal when the server does not let it go on; while it is away the stream says so, and waits for it */
async function follow(
  server: Server,
  { worldAddress, address }: DeploymentReference,
  { after, include, count = Number.POSITIVE_INFINITY, json }: StreamOptions,
  { write, note, isRead = () => true }: CommandContext,
): Promise<void> {
  // The stream repeats what fails, and says so; a request that did would be silent meanwhile.
  const orrery = createOrrery({ url: server.url, token: server.key, retryForMs: 0 });
  const asked = { method: 'GET', path: `/api/worlds/${worldAddress}/deployments/${address}/stream` } as const;
  const onConnection = connectionTeller((reason) => failureOf(server, asked, reason).message, note);
  let left = count;
  try {
    const options = { after, include, onConnection };
    for await (const event of orrery.deployment(worldAddress, address).stream(options)) {
      write(json === true ? JSON.stringify(event.type === 'entry' ? event.entry : event) : lineOf(event));
      left -= 1;
      if (left <= 0 || !isRead()) return;
    }
  } catch (error) {
    if (!(error instanceof OrreryError)) throw error;
    throw failureOf(server, asked, error);
  }
}

/** Says why the stream is not connected, each reason once, and when it is again. */
function connectionTeller(textOf: (reason: OrreryError) => string, note: CommandContext['note']) {
  let told: string | undefined;
  return (isOpen: boolean, reason?: OrreryError): void => {
    if (isOpen && told !== undefined) note('Connected.');
    const text = reason === undefined ? undefined : textOf(reason);
    if (text !== undefined && text !== told) note(`Not connected, it tries again until Ctrl-C: ${text}`);
    told = isOpen ? undefined : (text ?? told);
  };
}

const lineOf = (event: StreamEvent): string =>
  event.type === 'entry' ? entryLine(event.entry) : `push  ${cellOf(event.push)}`;

function entryLine({ seq, executedAt, kind, event, eventVersion, trigger, status, ...entry }: LiveEntry) {
  const what = event === null ? [kind] : [`${event}@${eventVersion}`, trigger, status];
  const changes = Object.keys(entry.stateChanges).length === 0 ? undefined : cellOf(entry.stateChanges);
  const parts = [seq, executedAt, ...what, entry.error?.code, changes];
  return parts.filter((part) => part !== undefined && part !== null).join('  ');
}
