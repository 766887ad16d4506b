import {
  type CursorPagination,
  type FieldProblem,
  type HttpBinding,
  type Pagination,
  parseJson,
} from '@orrery/contracts';
import type { OrreryError } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { toKebab } from '../terminal/options.js';
import type { Server } from './find-server.js';

/** An answer in the envelope; a refusal has a code and a sentence (RFC 9457). */
export interface ServerAnswer {
  readonly status: number;
  readonly data?: unknown;
  readonly message?: string;
  /** Likely mistakes that are allowed. */
  readonly warnings?: readonly FieldProblem[];
  /** Of a list whose pages have numbers, or of a query's. */
  readonly pagination?: Partial<Pagination & CursorPagination>;
  readonly code?: string;
  readonly error?: string;
  readonly errors?: readonly FieldProblem[];
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface ServerRequest {
  readonly method: HttpBinding['method'];
  /** With its query, from `/api` on. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** @throws StartupError when no server answers there */
export async function send(
  { url, key }: Server,
  { method, path, headers, body }: ServerRequest,
): Promise<ServerAnswer> {
  const authorization = key === '' ? {} : { authorization: `Bearer ${key}` };
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const init = { method, headers: { ...authorization, ...json, ...headers } };
  try {
    const answer = await fetch(
      `${url}${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    return {
      ...(parseJson(await answer.text()) as unknown as Omit<ServerAnswer, 'status'>),
      status: answer.status,
    };
  } catch (error) {
    throw new StartupError(
      `No Orrery answers at ${url}: run \`npm start\` in another terminal first, pass --url or set ORRERY_URL.`,
      { cause: error },
    );
  }
}

/** A warning as a line; `where`: the part that it is about. */
export const warningText = ({ code, message }: FieldProblem, where: string): string =>
  `Warning: ${where === '' ? '' : `${where}: `}${message} [${code}]`;

/** As `send`. @throws Refusal also for an answer that is none of success */
export async function sendOrFail(server: Server, request: ServerRequest): Promise<ServerAnswer> {
  const answer = await send(server, request);
  if (answer.status < 300) return answer;
  throw new Refusal(server, request, answer);
}

/** Sends a request below `/api`. @throws StartupError when no server answers there */
export const askServer = (
  server: Server,
  method: HttpBinding['method'],
  path: string,
  body?: unknown,
): Promise<ServerAnswer> => send(server, { method, path: `/api${path}`, body });

/** As `askServer`. @throws Refusal also for a refusal */
export const askOrFail = (
  server: Server,
  method: HttpBinding['method'],
  path: string,
  body?: unknown,
): Promise<ServerAnswer> => sendOrFail(server, { method, path: `/api${path}`, body });

/** The parameters that tell the pages of a list apart; undefined: there is no further page. */
type Which = Readonly<Record<string, string>> | undefined;

/** All pages of a list as one answer. `next`: what follows an answer. */
export async function allPages(
  ask: (which: NonNullable<Which>) => Promise<ServerAnswer>,
  next: (answer: ServerAnswer) => Which = nextPage,
): Promise<ServerAnswer> {
  const data: unknown[] = [];
  let answer: ServerAnswer = { status: 200 };
  for (let which: Which = {}; which !== undefined; which = next(answer)) {
    answer = await ask(which);
    data.push(...(answer.data as unknown[]));
  }
  return { ...answer, data };
}

/** Of a history, by its last entry: what is written meanwhile moves no entry to another page, and none is too deep. */
export function nextEntries({ data, pagination }: ServerAnswer): Which {
  const entries = data as { readonly seq: number }[];
  const last = entries.at(-1);
  const isEnd = last === undefined || last.seq === 1 || entries.length < (pagination?.limit ?? 1);
  return isEnd ? undefined : { after: String(last.seq) };
}

function nextPage({ data, pagination }: ServerAnswer): Which {
  const { next, page = 1, limit = 1, totalPages = 1, totalIsMinimum = false } = pagination ?? {};
  if (next !== undefined) return next === null ? undefined : { cursor: next };
  // The service counts no further than 10,000.
  const mayFollow = totalIsMinimum && (data as unknown[]).length >= limit;
  return page < totalPages || mayFollow ? { page: String(page + 1) } : undefined;
}

type Asked = Pick<ServerRequest, 'method' | 'path'>;

/** The server has refused a request. The message is its problem document for people: code, sentence, pointers, advice. */
export class Refusal extends StartupError {
  readonly problem: ServerAnswer;

  constructor(server: Server, request: Asked, problem: ServerAnswer) {
    super([textOf(request, problem), ...adviceOn(server, problem)].join('\n'));
    this.problem = problem;
  }
}

/** What the SDK was told for a request, as the command says it. */
export const refusalOf = (
  server: Server,
  request: Asked,
  { status, code, message, pointers }: OrreryError,
): Refusal => new Refusal(server, request, { status, code, error: message, errors: pointers });

/** The sentence first; what was asked, which is long, at the end. */
function textOf({ method, path }: Asked, problem: ServerAnswer): string {
  const { status, code, error = '', errors = [] } = problem;
  const reason = code === undefined ? status : `${status} ${code}`;
  // One problem is in the sentence already.
  const further = errors.filter(({ message }) => !error.includes(message));
  const lines = further.map(({ pointer, message }) => `\n  ${pointer || 'the body'}: ${message}`);
  const sentence = Object.hasOwn(ADVICE, code ?? '') ? withoutPaths(error) : error;
  return asTyped(`${sentence} (${reason})${lines.join('')}\nRefused: ${method} ${path}`);
}

/** Without the sentences that name requests: a command says the same. */
const withoutPaths = (text: string): string => text.replaceAll(/\s*[^.]*\bGET \/api\/[^.]*\./g, '');

/** Pointers to queries and headers as the options that fill them. */
const asTyped = (text: string): string =>
  text.replaceAll(/#(?:query|header)\/([\w-]+)/g, (_, name: string) => `--${toKebab(name)}`);

/** Commands for what the server says of its API. */
export const ADVICE: Readonly<Record<string, string>> = {
  unknown_ai_model: '`orrery models list` shows the models.',
  unknown_chain: '`orrery chains list` shows the chains.',
  world_not_found: '`orrery worlds list` shows the worlds that you may see.',
  deployment_not_found: '`orrery deployments list WORLD` shows the deployments of a world.',
  entity_schema_not_found: '`orrery schemas list WORLD` shows the schemas of a world.',
  attribute_not_found: '`orrery attributes list WORLD SCHEMA` shows the attributes of a schema.',
  event_not_found: '`orrery events list WORLD` shows the events of a world.',
  event_version_not_found: '`orrery versions list WORLD EVENT` shows the versions of an event.',
  event_binding_not_found: '`orrery bindings list DEPLOYMENT` shows what a deployment has bound.',
  entity_instance_not_found: '`orrery instances list DEPLOYMENT` shows the instances of a deployment.',
  history_entry_not_found: '`orrery history list DEPLOYMENT` shows the entries of a deployment.',
  schedule_not_found: '`orrery schedules list DEPLOYMENT` shows the schedules of a deployment.',
  push_not_found: '`orrery pushes list DEPLOYMENT` shows the pushes of a deployment.',
  webhook_not_found: '`orrery webhooks list DEPLOYMENT` shows the webhooks of a deployment.',
  key_not_found: '`orrery keys list` shows the keys of your account.',
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
