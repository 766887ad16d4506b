import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedRequests } from '../src/contract/checked-requests.js';
import { documentedExamples, exampleOf, requestOf } from '../src/guides/documented-examples.js';
import { expectShown } from '../src/guides/expect-shown.js';
import { PASTED_PAGES } from '../src/guides/pasted-pages.js';
import { readPage } from '../src/guides/read-page.js';
import { runPage } from '../src/guides/run-page.js';
import { type GuideHouse, startGuideHouse } from '../src/guides/start-guide-house.js';

let house: GuideHouse;
beforeAll(async () => {
  house = await startGuideHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());

describe('a page', () => {
  it.each(PASTED_PAGES)('%s does what it shows', async (page) => {
    for (const block of await runPage(readPage(page), house)) expectShown(block);
  });
});

describe('the page /docs', () => {
  it('has a first request that works as it stands', async () => {
    const page = await (await fetch(`${house.system.url}/docs`)).text();
    const [, command = ''] = /<pre id="first-request">(.*?)<\/pre>/.exec(page) ?? [];
    const text = `${command.replaceAll('&quot;', '"')}\n`;
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
  bindingsList bindingsRemove bindingsAdd instancesCreate instancesList instancesGet instancesUpdate
  deploymentsPublish publicExecute deploymentsUnpublish deploymentsExecute executionsGet executionsGetPublic
  historyList historyGet historyVerify deploymentsStream deploymentsUsage paymentsList
  pushesList pushesRetry pushesSkip
  bindingsUpdate schedulesList schedulesPause schedulesResume schedulesRun occurrencesList
  instancesDelete deploymentsPause deploymentsResume deploymentsLock
  keysCreate keysList keysRotate keysRevoke authMethods authChallenge authToken authCode`
  .trim()
  .split(/\s+/);

/**
 * No push of these fails, so there is none to try again or to skip, no public execution goes on after its answer, and a sign-in
 * code is made at a start and used once: the document says how that is answered.
 */
const REFUSED = new Map([
  ['pushesRetry', 'push_not_found'],
  ['pushesSkip', 'push_not_found'],
  ['executionsGetPublic', 'execution_not_found'],
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
      keysCreate: ({ id = '' }) => known.set(shown('keysRevoke', 'id'), id),
      authChallenge: ({ message = '' }) => {
        challenge = message;
      },
    };
    const addressOf = (operation: string) => known.get(shown(operation, 'address'));
    const signedMembers: Readonly<Record<string, () => object>> = {
      publicExecute: () => signed(`orrery:${addressOf('publicExecute')}:race-result:${Date.now()}`),
      authChallenge: () => ({ wallet: signed('').wallet }),
      authToken: () => signed(challenge),
    };
    const startAsynchronously = async () => {
      const { path, body } = requestOf(example('deploymentsExecute'), known);
      const { status, body: answered } = await keyed('POST', path, body, { prefer: 'respond-async' });
      expect(status).toBe(202);
      known.set(shown('executionsGet', 'executionId'), answered.data.executionId);
    };
    for (const operation of IN_ORDER) {
      if (operation === 'executionsGet') await startAsynchronously();
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
