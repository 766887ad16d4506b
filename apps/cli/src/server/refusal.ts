import { StartupError } from '@orrery/service-kit';
import { toKebab } from '../operations/placement.js';
import type { ServerAnswer, ServerRequest } from './ask-server.js';
import type { Server } from './find-server.js';

type Asked = Pick<ServerRequest, 'method' | 'path'>;

/** The server has refused a request. The message is its problem document for people: code, sentence, places, advice. */
export class Refusal extends StartupError {
  readonly problem: ServerAnswer;

  constructor(server: Server, request: Asked, problem: ServerAnswer) {
    super([textOf(request, problem), ...adviceOn(server, problem)].join('\n'));
    this.problem = problem;
  }
}

/** The sentence first; what was asked, which is long, at the end. */
function textOf({ method, path }: Asked, problem: ServerAnswer): string {
  const { status, code, error = '', errors = [] } = problem;
  const reason = code === undefined ? status : `${status} ${code}`;
  // One problem is in the sentence already.
  const further = errors.filter(({ message }) => !error.includes(message));
  const lines = further.map(({ pointer, message }) => `\n  ${pointer || 'the body'}: ${message}`);
  return asTyped(`${error} (${reason})${lines.join('')}\nRefused: ${method} ${path}`);
}

/** The places of queries and headers by the options that fill them. */
const asTyped = (text: string): string =>
  text.replaceAll(/#(?:query|header)\/([\w-]+)/g, (_, name: string) => `--${toKebab(name)}`);

/** Commands for what the server says of its API. */
const ADVICE: Readonly<Record<string, string>> = {
  unknown_ai_model: '`orrery models list` shows the models.',
  revision_mismatch:
    'It was changed by something else since it was read, so nothing was written: look at it and run the command again.',
};

/** What the server cannot know: where the key and the address came from. */
export function adviceOn(
  { url, keyFrom }: Server,
  { status, code }: Pick<ServerAnswer, 'status' | 'code'>,
): string[] {
  const withoutApi = url.replace(/\/api$/, '');
  if (status === 401 && keyFrom !== undefined)
    return [`The key came from ${keyFrom}, the server is ${url}. --key or ORRERY_KEY gives another key.`];
  if (code === 'route_not_found' && withoutApi !== url)
    return [`Give the address without /api, which the command adds itself: ${withoutApi}`];
  const advice = ADVICE[code ?? ''];
  return advice === undefined ? [] : [advice];
}
