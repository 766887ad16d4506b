import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createProgram } from '@orrery/cli/program';
import { createOrrery } from '@orrery/sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answerExample } from '../openapi/answers.js';
import { bodyOf, givenIn, isKeyed, operationsOf, type PlacedOperation } from '../openapi/document.js';
import { readSources } from '../site/read-sources.js';
import { jsonText, literal } from './javascript.js';
import { cliSample, samplesOf } from './samples.js';
import { commandLine } from './shell.js';

const { document } = readSources(join(import.meta.dirname, '../../../..'));
const operations = operationsOf(document);
const URL_OF_SERVER = 'http://orrery.test';
const WORLD = `0x${'4f'.repeat(20)}`;
const DEPLOYMENT = `0x${'5a'.repeat(20)}`;

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The request of the document's example, made of the document alone. */
function expected(operation: PlacedOperation): Sent {
  const path = givenIn(operation, 'path').reduce(
    (all, { name, example }) => all.replace(`{${name}}`, encodeURIComponent(String(example))),
    operation.path,
  );
  const query = new URLSearchParams(
    givenIn(operation, 'query').map(({ name, example }) => [name, String(example)]),
  );
  const headers = givenIn(operation, 'header').map(({ name, example }) => [
    name.toLowerCase(),
    String(example),
  ]);
  return {
    method: operation.method.toUpperCase(),
    url: `${URL_OF_SERVER}${path}${query.size === 0 ? '' : `?${query}`}`,
    headers: {
      ...(isKeyed(operation) && { authorization: 'Bearer the-key' }),
      ...Object.fromEntries(headers),
    },
    body: bodyOf(operation)?.example,
  };
}

/** The words of commands, as a shell reads them. */
function wordsOf(program: string, commands: readonly string[]): string[][] {
  const script = `${program}() { printf '%s\\0' "$@" $'\\n'; }\n${commands.join('\n')}`;
  const env = {
    ORRERY_URL: URL_OF_SERVER,
    ORRERY_KEY: 'the-key',
    WORLD,
    DEPLOYMENT,
    PATH: process.env['PATH'],
  };
  const printed = execFileSync('bash', ['-c', script], { env, encoding: 'utf8', maxBuffer: 2 ** 24 });
  return printed
    .split('\n\0')
    .filter((one) => one !== '')
    .map((one) => one.split('\0').slice(0, -1));
}

/** What `curl` would send. */
function sentByCurl(words: readonly string[]): Sent {
  const after = (flag: string) => words.flatMap((word, at) => (word === flag ? [words[at + 1] ?? ''] : []));
  const [data] = after('-d');
  const headers = after('-H').map((line) => {
    const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
    return [name.toLowerCase(), value] as const;
  });
  const { 'content-type': type, ...others } = Object.fromEntries(headers);
  expect(type).toBe(data === undefined ? undefined : 'application/json');
  return {
    method: after('-X')[0] ?? 'GET',
    url: words.find((word) => word.startsWith('http')) ?? '',
    headers: others,
    body: data === undefined ? undefined : JSON.parse(data),
  };
}

/** Answers requests with the document's example, and keeps them. */
function recorder(operation: PlacedOperation) {
  const sent: Sent[] = [];
  const answer = answerExample(operation, document);
  const fetch = async (target: string | URL | Request, init?: RequestInit) => {
    const request = new Request(target, init);
    const text = await request.text();
    const { 'content-type': _, accept: _a, ...headers } = Object.fromEntries(request.headers);
    const { method, url } = request;
    sent.push({ method, url, headers, body: text === '' ? undefined : JSON.parse(text) });
    return new Response(answer?.code ?? '{}', { status: Number(answer?.status ?? 200) });
  };
  return { fetch, sent };
}

/** `%20` and `+` are one. */
const normal = ({ url, ...sent }: Sent): Sent => ({ ...sent, url: url.replaceAll('%20', '+') });

describe('the examples of calls', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('are there for every operation', () => {
    expect(operations.length).toBeGreaterThan(100);
    for (const operation of operations)
      expect(samplesOf(operation).map(({ kind }) => kind)).toEqual(['curl', 'sdk', 'cli']);
  });

  it('of curl send the request of the document', () => {
    const words = wordsOf(
      'curl',
      operations.map((one) => samplesOf(one)[0]?.code ?? ''),
    );
    for (const [at, operation] of operations.entries())
      expect(normal(sentByCurl(words[at] ?? [])), operation.operationId).toEqual(normal(expected(operation)));
  });

  /** They sign with a wallet, follow a stream or read whole histories. */
  const SEVERAL = [
    'deploymentsStream',
    'publicStream',
    'publicExecute',
    'publicExecuteEvent',
    'historyVerify',
  ];
  const single = operations.filter(({ operationId }) => !SEVERAL.includes(operationId));

  it('of the command send it, too', async () => {
    const withCommand = single.filter((operation) => cliSample(operation) !== undefined);
    expect(single.length - withCommand.length).toBe(0);
    const words = wordsOf(
      'npx',
      withCommand.map((operation) => cliSample(operation) ?? ''),
    );
    for (const [at, operation] of withCommand.entries()) {
      const { fetch, sent } = recorder(operation);
      vi.stubGlobal('fetch', fetch);
      const env = { ORRERY_URL: URL_OF_SERVER, ORRERY_KEY: 'the-key' };
      const nothing = () => undefined;
      const program = createProgram({ env, write: nothing, note: nothing, confirm: async () => true });
      await program.parseAsync(words[at]?.slice(1) ?? [], { from: 'user' }).catch((error: unknown) => {
        throw new Error(`${operation.operationId}: ${words[at]?.join(' ')}`, { cause: error });
      });
      const wanted = expected(operation);
      expect(ofCommand(sent[0], wanted), operation.operationId).toEqual(ofCommand(wanted, wanted));
    }
  });

  /** The command checks the stored schema, counts as many as it can at once, and sends its key and one of each change. */
  function ofCommand(sent: Sent | undefined, wanted: Sent) {
    const { method, url, body, headers } = sent as Sent;
    const { authorization: _, 'idempotency-key': made, ...others } = headers;
    const key = 'idempotency-key' in wanted.headers ? made : undefined;
    const shown = Array.isArray(body) ? body : body && { ...body, attributes: undefined };
    return { method, ...partsOf(url), body: shown, headers: others, key };
  }

  /** An address without what a client adds to read the largest pages. */
  function partsOf(url: string) {
    const { origin, pathname, searchParams } = new URL(url);
    for (const name of ['limit', 'page']) searchParams.delete(name);
    return { path: origin + pathname, query: Object.fromEntries(searchParams) };
  }

  it('of the SDK send it, too', async () => {
    const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
    for (const operation of single) {
      const { fetch, sent } = recorder(operation);
      const orrery = createOrrery({
        url: URL_OF_SERVER,
        token: 'the-key',
        fetch: fetch as typeof globalThis.fetch,
      });
      const code = samplesOf(operation)[1]?.code ?? '';
      const run = new AsyncFunction('orrery', 'world', 'deployment', 'console', code);
      await run(orrery, WORLD, DEPLOYMENT, { log: () => undefined });
      expect(ofSdk(sent[0]), `${operation.operationId}: ${code}`).toEqual(ofSdk(expected(operation)));
    }
  });

  /** The SDK makes keys where none is given. */
  function ofSdk(sent: Sent | undefined) {
    const { method, url, body } = sent as Sent;
    return { method, ...partsOf(url), body };
  }
});

describe('a command line', () => {
  it('quotes what a shell would read otherwise, and breaks before options', () => {
    expect(commandLine(['orrery', 'worlds', 'create', "Ada's"])).toBe(`orrery worlds create 'Ada'\\''s'`);
    expect(commandLine(['a', '--one', '1', '--two', '2'], 8)).toBe('a \\\n  --one 1 \\\n  --two 2');
  });
});

describe('a literal', () => {
  it('is JavaScript', () => {
    const value = { a: 'it\'s "so"\n', 'b-c': [1, null, { d: true }], e: {} };
    expect(new Function(`return ${literal(value)}`)()).toEqual(value);
    expect(literal(value)).toBe(`{ a: 'it\\'s "so"\\n', 'b-c': [1, null, { d: true }], e: {} }`);
    const long = { text: 'x'.repeat(80), list: ['y'] };
    expect(new Function(`return ${literal(long)}`)()).toEqual(long);
    expect(literal(long).split('\n')).toHaveLength(4);
    expect(JSON.parse(jsonText(long))).toEqual(long);
    expect(jsonText({ a: ['b'] })).toBe('{ "a": ["b"] }');
  });
});
