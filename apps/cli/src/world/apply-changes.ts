import { StartupError } from '@orrery/service-kit';
import { Refusal, type ServerAnswer, send } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { type ChangeRequest, requestsOf } from './change-requests.js';
import type { Change } from './plan-changes.js';
import type { DefinitionKind, WorldFolder } from './read-folder.js';

export interface Applying {
  readonly server: Server;
  readonly folder: WorldFolder;
  /** Undefined: the first change creates it. */
  readonly address: string | undefined;
  /** Called after each change, with what the server said about it. */
  readonly onDone: (change: Change, messages: readonly string[]) => void;
}

/**
 * Makes changes in their order and resolves with the world's address.
 * @throws StartupError at the first one that the server refuses: those before it are made, and applying again goes on there
 */
export async function applyChanges(
  changes: readonly Change[],
  { server, folder, address, onDone }: Applying,
): Promise<string> {
  let world = address;
  for (const [done, change] of changes.entries()) {
    const messages: string[] = [];
    for (const request of requestsOf(change)) {
      const path = world === undefined ? '/api/worlds' : `/api/worlds/${world}${request.path}`;
      const { method, body } = request;
      const answer = await send(server, { method, path, body });
      if (answer.status >= 300) {
        const text = new Refusal(server, { method, path }, inFile(answer, change, request, folder)).message;
        throw new StartupError(`${text}\n${progressOf(done, changes.length)}`);
      }
      world ??= (answer.data as { address: string }).address;
      if (answer.message !== undefined) messages.push(answer.message);
    }
    onDone(change, messages);
  }
  return world ?? '';
}

/** A refusal whose pointers are lines of files. */
function inFile(
  answer: ServerAnswer,
  { what, name }: Change,
  { inFile: translate = (pointer) => pointer }: ChangeRequest,
  folder: WorldFolder,
): ServerAnswer {
  const kind = what.split(' ')[1] as DefinitionKind;
  const placed = (answer.errors ?? []).map((problem) => {
    const line = folder.lineOf(kind, name, translate(problem.pointer));
    return { ...problem, pointer: `${line}: ${problem.pointer}` };
  });
  const [first] = placed;
  // The sentence names the first problem by its pointer into the body.
  return first === undefined
    ? answer
    : { ...answer, error: 'The files say what the server refuses.', errors: placed };
}

const progressOf = (done: number, of: number): string =>
  done === 0
    ? 'Nothing was changed.'
    : `${done} of ${of} changes were made before: mend this one and apply again, which goes on here.`;
