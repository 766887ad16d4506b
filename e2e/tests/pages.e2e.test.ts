import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BUILT_COMMAND, repositoryRoot } from '@orrery/testing/system';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient, checkedRequests } from '../src/api/api-client.js';
import { documentedExamples, exampleOf, requestOf } from '../src/guides/documented-examples.js';
import { PASTED_PAGES, readPage } from '../src/guides/pasted-pages.js';
import { runCommands } from '../src/guides/run-commands.js';
import { expectShown, runPage } from '../src/guides/run-page.js';
import { type GuideHouse, startGuideHouse } from '../src/guides/start-guide-house.js';
import { commandLine } from '../src/starting/command-line.js';

const execute = promisify(execFile);

let house: GuideHouse;
beforeAll(async () => {
  house = await startGuideHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());

interface Named {
  readonly name: string;
  readonly address: string;
}

/** What a page says of its commands beside the answers that it shows. */
const SAID: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [
    /"valid":true/,
    /(?=.*"event":"race")(?=.*"status":"succeeded").*"model":"orrery\/sampler"/,
    /"isPublic":true/,
    /HORSE_2 wins R9/,
    /is as the files say: there is nothing to do\.\n$/,
  ],
};

describe('the pages, one after the other in one data directory', () => {
  it.each(PASTED_PAGES)('%s does what it shows', async (page) => {
    const answered = await runPage(readPage(page), house);
    for (const block of answered) expectShown(block);
    const output = answered.map((block) => block.output).join('');
    for (const said of SAID[page] ?? []) expect(output).toMatch(said);
  });

  it('docs/cli.md works as it stands', async () => {
    expect(await runCommands(readPage('docs/cli.md'), house)).toBeGreaterThan(25);
    const { run } = commandLine(house.system.commandEnv);
    expect(await run('history', 'list', 'Spring')).toMatch(/win +1 +admin +succeeded/);
  });

  it('docs/cli.md shows files that are a world', async () => {
    const files = readPage('docs/cli.md').filter(({ language }) => language === 'yaml');
    const shown = files.map(({ text }) => ({ path: /^# (\S+)\n/.exec(text)?.[1] ?? 'no name', text }));
    expect(shown.map(({ path }) => path)).toEqual(['world.yaml', 'schemas/horse.yaml', 'events/race.yaml']);
    for (const { path, text } of shown) {
      const file = join(house.folder, 'shown', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const { end } = commandLine(house.system.commandEnv);
    const dryRun = await end('world', 'apply', join(house.folder, 'shown'), '--dry-run');
    expect(dryRun).toMatchObject({ failed: false, stderr: '' });
  });

  it('name each world and each deployment as no other page does', async () => {
    const { url, key } = house.system;
    const api = apiClient(url, key);
    const listed = async (path: string): Promise<Named[]> => (await api.get(`${path}?limit=100`)).body.data;
    const worlds = await listed('/worlds');
    expect(worlds.length).toBeGreaterThan(6);
    const deployments = await Promise.all(
      worlds.map(({ address }) => listed(`/worlds/${address}/deployments`)),
    );
    for (const all of [worlds, deployments.flat()]) {
      const names = all.map(({ name }) => name).sort();
      expect(names).toEqual([...new Set(names)]);
    }
  });

  it('and a demo plays there', async () => {
    const { stdout } = await execute(process.execPath, [join(repositoryRoot, BUILT_COMMAND), 'demo'], {
      cwd: house.folder,
    });
    expect(stdout).toMatch(/HORSE_1\s+.*1\s+.*12/);
  });
});

describe('the page /docs', () => {
  it('has a first request that works as it stands', async () => {
    const page = await (await fetch(`${house.system.url}/docs`)).text();
    const [, shown = ''] = /<div id="first-request"><pre[^>]*><code>(.*?)<\/code>/.exec(page) ?? [];
    const text = `${shown.replaceAll(/<[^>]+>/g, '').replaceAll('&quot;', '"')}\n`;
    expect(text).toMatch(/^curl /);
    const [answered] = await runPage([{ language: 'bash', text }], house);
    expect(JSON.parse(answered?.output ?? '')).toMatchObject({ success: true, pagination: { page: 1 } });
  });
});

/**
 * Every operation of the document, in an order in which each finds what it needs. What is made twice was deleted in
 * between; the version that is made second is the one that is deleted.
 */
const IN_ORDER = `
  accountsMe worldsCreate worldsDelete worldsCreate worldsList worldsGet worldsUpdate worldsPublish worldsUnpublish worldsCheck
  entitySchemasCreate entitySchemasDelete entitySchemasCreate entitySchemasList entitySchemasGet entitySchemasUpdate
  attributesCreate attributesList attributesGet attributesUpdate attributesDelete
  eventsCreate eventsDelete eventsCreate eventsList eventsGet eventsUpdate
  versionsCreate versionsCreate versionsList versionsGet versionsUpdate versionsDelete versionsLock
  aiModelsList chainsList limitsGet cronPreview
  deploymentsCreate deploymentsDelete deploymentsCreate deploymentsList deploymentsGet deploymentsUpdate
  bindingsList bindingsRemove bindingsAdd instancesCreate instancesList instancesAggregate instancesRank instancesGet instancesUpdate
  instancesCheck instancesMap
  deploymentsPublish publicExecute publicExecuteEvent publicGet publicInstances publicAggregate publicRank publicInstance publicHistory publicEntry publicDefinition publicVerify publicHead publicProof publicConsistency publicStream
  deploymentsUnpublish deploymentsExecute deploymentsTry deploymentsReplay timersList timersGet timersCancel executionsGet executionsGetPublic
  historyList historyGet definitionsGet historyVerify historyHead historyProof historyConsistency deploymentsStream deploymentsUsage deploymentsOverview paymentsList paymentsSolana
  pushesList pushesRetry pushesSkip
  webhooksCreate webhooksList webhooksGet webhooksUpdate webhooksTest webhooksRedeliver webhooksDeliveries webhooksRotateSecret webhooksDelete
  bindingsUpdate schedulesList schedulesPause schedulesResume schedulesRun occurrencesList
  instancesDelete deploymentsRevealRandomness deploymentsPause deploymentsResume deploymentsLock
  keysCreate keysList keysRotate keysRevoke authMethods authChallenge authToken authCode`
  .trim()
  .split(/\s+/);

/**
 * No push of these fails and the deployment is no fork, so there is none to try again or to skip, no public execution goes on after its answer, a sign-in
 * code is made at a start and used once, and no payments are taken on Solana's main network: the document says how that is answered.
 */
const REFUSED = new Map([
  ['pushesRetry', 'push_not_found'],
  ['pushesSkip', 'push_not_found'],
  ['deploymentsReplay', 'what_if_only'],
  ['executionsGetPublic', 'execution_not_found'],
  ['paymentsSolana', 'unknown_chain'],
  ['authCode', 'sign_in_code_invalid'],
]);

describe('the examples of openapi.json', () => {
  const examples = documentedExamples();
  const example = (operation: string) => {
    const found = examples.get(operation);
    if (found === undefined) throw new RangeError(`the document has no ${operation}`);
    return found;
  };

  it('are run here, all of them', () => {
    expect([...new Set(IN_ORDER)].sort()).toEqual([...examples.keys()].sort());
  });

  it('work against a running server, and are answered as the document says', async () => {
    const { url, key } = house.system;
    const [keyed, keyless] = [checkedRequests(url, key), checkedRequests(url)];
    const signing = nacl.sign.keyPair();
    const signed = (message: string) => ({
      wallet: bs58.encode(signing.publicKey),
      message,
      signature: bs58.encode(nacl.sign.detached(Buffer.from(message), signing.secretKey)),
    });
    let challenge = '';
    /** What only a server or a wallet can give, by what the document shows in its place. */
    const known = new Map<string, string>();
    const shown = (operation: string, parameter: string) => exampleOf(example(operation), parameter);
    const learn: Readonly<Record<string, (data: Record<string, string>) => void>> = {
      worldsCreate: ({ address = '' }) => known.set(shown('worldsGet', 'idOrAddress'), address),
      deploymentsCreate: ({ address = '' }) => known.set(shown('deploymentsGet', 'address'), address),
      publicExecute: ({ historyId = '' }) => known.set(shown('historyGet', 'historyId'), historyId),
      publicEntry: ({ versionHash = '' }) => known.set(shown('definitionsGet', 'hash'), versionHash),
      webhooksCreate: ({ id = '' }) => known.set(shown('webhooksGet', 'webhookId'), id),
      keysCreate: ({ id = '' }) => known.set(shown('keysRevoke', 'id'), id),
      authChallenge: ({ message = '' }) => {
        challenge = message;
      },
    };
    const addressOf = (operation: string) => known.get(shown(operation, 'address'));
    const signedMembers: Readonly<Record<string, () => object>> = {
      publicExecute: () => signed(`orrery:${addressOf('publicExecute')}:race-result:${Date.now()}`),
      publicExecuteEvent: () =>
        signed(`orrery:${addressOf('publicExecuteEvent')}:race-result:${Date.now() + 1}`),
      authChallenge: () => ({ wallet: signed('').wallet }),
      authToken: () => signed(challenge),
    };
    const startAsynchronously = async () => {
      const { path, body } = requestOf(example('deploymentsExecute'), known);
      const { status, body: answered } = await keyed('POST', path, body, { prefer: 'respond-async' });
      expect(status).toBe(202);
      known.set(shown('executionsGet', 'executionId'), answered.data.executionId);
    };
    const setTimer = async () => {
      const { path, body } = requestOf(example('deploymentsExecute'), known);
      const later = JSON.stringify({ ...JSON.parse(body ?? '{}'), after: 'PT1H' });
      const { status, body: answered } = await keyed('POST', path, later);
      expect(status).toBe(202);
      known.set(shown('timersCancel', 'timerId'), answered.data.timerId);
    };
    for (const operation of IN_ORDER) {
      if (operation === 'executionsGet') await startAsynchronously();
      if (operation === 'timersList') await setTimer();
      const { method, isKeyed } = example(operation);
      const { path, headers, body } = requestOf(example(operation), known, signedMembers[operation]?.());
      const answer = await (isKeyed ? keyed : keyless)(method, path, body, headers);
      const code = REFUSED.get(operation);
      expect([operation, answer.status < 300, answer.body?.code]).toEqual([
        operation,
        code === undefined,
        code,
      ]);
      learn[operation]?.(answer.body?.data);
    }
  });
});
