import { canonicalHash } from '@orrery/contracts';
import { LIMITS_EXAMPLE } from './example-limits.js';
import { daily, direct, PATH_EXAMPLES, speed, wallet, webhook, wins } from './examples.js';

const {
  idOrAddress,
  address: deployment,
  historyId = '',
  executionId,
  instanceId = '',
  chain,
  id,
  webhookId,
} = PATH_EXAMPLES;

/** A time of the morning on which all of it happened. */
export const at = (minuteAndSecond: string) => `2026-11-21T09:${minuteAndSecond}.000Z`;
const times = { createdAt: at('30:00'), updatedAt: at('30:00') };

export const versionHash = canonicalHash(direct);
const version = {
  id: 1,
  eventId: 1,
  event: 'race-result',
  version: 1,
  isLocked: false,
  lockedAt: null,
  versionHash,
  outputSchema: null,
  behaviorPrompt: null,
  executionSettings: null,
  guards: null,
  ...direct,
  ...times,
};

const webhookShown = {
  id: webhookId,
  ...webhook,
  state: 'active',
  seq: 5,
  behind: 0,
  failingSince: null,
  nextAttemptAt: null,
  problem: null,
  disabledAt: null,
  ...times,
};

const input = { winner: instanceId };
const stateChanges = { [`horse:${instanceId}`]: { wins: 4 } };
/** The members that the hash of an entry covers. */
const hashed = {
  v: 2,
  deployment: deployment ?? '',
  id: historyId,
  seq: 5,
  kind: 'execution',
  event: 'race-result',
  eventVersion: 1,
  versionHash,
  trigger: 'admin',
  caller: 'account:1',
  status: 'succeeded',
  input,
  changes: [{ entitySchema: 'horse', instanceId, op: 'update', set: { wins: 4 }, unset: [], revision: 2 }],
  result: input,
  error: null,
  llmHash: null,
  attestation: null,
  paymentKey: null,
  executedAt: at('31:00'),
  prevHash: canonicalHash({ seq: 4 }),
  decidedAt: at('31:00'),
  evaluator: 2,
};
const entry = { ...hashed, hash: canonicalHash(hashed), stateChanges };
const decided = { event: 'race-result', eventVersion: 1, stateChanges, result: input, attestation: null };
const answer = {
  kind: 'committed',
  historyId,
  seq: entry.seq,
  ...decided,
  pushes: [{ chain, status: 'queued' }],
};

const origin = `orrery.example/0x${'5a'.repeat(20)}/1`;
const rootHash = canonicalHash('leaves 1 to 5');

const transaction = `0x${'7e'.repeat(32)}`;
const pushed = {
  chain,
  number: 1,
  status: 'confirmed',
  transaction,
  block: 34_210_771,
  explorerUrl: `https://sepolia.basescan.org/tx/${transaction}`,
  error: null,
};
const digest = canonicalHash({ ...decided, v: 1, number: 1, historyId, entryHash: entry.hash });

const asset = { decimals: 6, network: 'base-sepolia', asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e' };
const payer = `0x${'3c'.repeat(20)}`;
const payment = {
  paymentKey: `eip155:84532/${asset.asset}/${payer}/0x${'91'.repeat(32)}`,
  amount: '50000',
  ...asset,
  payTo: `0x${'2b'.repeat(20)}`,
  payer,
  status: 'settled',
  transaction: `0x${'8d'.repeat(32)}`,
  event: 'race-result',
  wallet,
  inputHash: canonicalHash(input),
  seq: 6,
  reason: null,
  createdAt: at('32:00'),
  updatedAt: at('32:02'),
};

const occurrence = {
  id: 1,
  kind: 'due',
  dueAt: '2026-11-22T08:00:00.000Z',
  until: null,
  count: 1,
  status: 'fired',
  reason: null,
  eventVersion: 2,
  counter: 1,
  attempts: 1,
  outcome: 'succeeded',
  historyId: '0190f8a1-3e00-7b22-9a00-000000000003',
  seq: 9,
  error: null,
  startedAt: '2026-11-22T08:00:00.004Z',
  endedAt: '2026-11-22T08:00:00.031Z',
};

const account = { id: 1, name: 'racing club', wallet: null, quotas: { worlds: 10 }, ...times };
const key = {
  id,
  name: 'scoreboard',
  scopes: ['read'],
  createdAt: at('33:00'),
  expiresAt: null,
  lastUsedAt: null,
  madeBy: null,
};
const token = `orrery_${id}${'a'.repeat(49)}`;
const cost = { calls: 24, inputTokens: 30_960, outputTokens: 2_880, usd: 0.0138 };

const shown = { ...entry, llm: null, payment: null, pushes: [pushed], durationMs: 1.4 };

const timer = {
  timerId: '0190f3c2-7c1e-8a10-8c00-000000000005',
  event: 'race-result',
  dueAt: at('40:00'),
  key: 'next-race',
};

/** One record of each kind that answers hold, by the names of `components.schemas`: one racing world after its first race. */
export const RECORD_EXAMPLES: Readonly<Record<string, unknown>> = {
  Pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
  CursorPagination: { limit: 20, next: null },
  InstanceAggregate: { group: {}, sum: { wins: 4 } },
  InstanceRank: { entitySchema: 'horse', instanceId, rank: 1, total: 1 },
  Deleted: { deleted: true },
  World: {
    id: 1,
    address: idOrAddress,
    name: 'Race track',
    description: null,
    domainTags: ['racing'],
    promptSeed: 'A small track with honest horses.',
    isPublic: false,
    ...times,
  },
  InstanceCheck: { lookedAt: 1, unfit: 1, mappable: 1, misfits: [], next: null },
  InstanceMapping: { lookedAt: 1, unfit: 0, mapped: 0, misfits: [], next: null },
  DefinitionCheck: {
    problems: [
      {
        pointer: '/events/0/firstVersion/mutationSettings/template/stateChanges/horse:{{input.winer}}',
        code: 'path_not_in_input',
        message: 'Line 1, column 9: The inputSchema has no "winer". Did you mean "winner"?',
        suggestion: 'Write "winner".',
      },
    ],
    warnings: [],
  },
  EntitySchema: {
    id: 1,
    worldId: 1,
    name: 'horse',
    description: null,
    attributes: [{ id: 1, ...wins, ...times }],
    ...times,
  },
  Attribute: { id: 2, ...speed, indexed: false, ...times },
  Event: { id: 1, worldId: 1, name: 'race-result', description: null, latestVersion: 1, ...times },
  EventVersion: version,
  Deployment: {
    id: 1,
    address: deployment,
    worldId: 1,
    worldAddress: idOrAddress,
    name: 'Season 1',
    description: null,
    mode: 'upgradable',
    isPublic: false,
    isPaused: false,
    isLLMPublic: false,
    isCodePublic: false,
    aiModelId: null,
    aiDailyBudgetUsd: null,
    payToAddress: null,
    lockedAt: null,
    definitionHash: null,
    source: null,
    ...times,
  },
  RevealedRandomness: {
    secrets: [{ commitment: canonicalHash('commitment'), secret: canonicalHash('secret') }],
    seq: 6,
  },
  EventBinding: {
    id: 1,
    event: 'race-result',
    eventVersion: 1,
    targetChains: [chain],
    onchain: null,
    ...times,
  },
  EntityInstance: {
    id: 1,
    entitySchema: 'horse',
    instanceId,
    state: { wins: 4 },
    revision: 2,
    createdAt: times.createdAt,
    updatedAt: entry.executedAt,
  },
  ExecutionAnswer: answer,
  DryRunAnswer: { kind: 'dry_run', dryRun: true, ...decided, prompt: null, llm: null },
  AcceptedExecution: { kind: 'accepted', executionId, state: 'running' },
  Execution: { executionId, state: 'succeeded', answer },
  TimerAnswer: { kind: 'timer', ...timer, seq: 5 },
  Timer: {
    ...timer,
    input: { winner: 'HORSE_1' },
    caller: 'account:1',
    cause: { seq: 5, index: 0 },
    depth: 1,
    executionId: null,
  },
  HistoryEntry: shown,
  ReplayAnswer: { seq: entry.seq, outcome: 'executed', entry: { ...shown, pushes: [] }, error: null },
  PublicHistoryEntry: shown,
  PublicHashedEntry: { ...hashed, hash: entry.hash },
  PublicDeployment: {
    id: 1,
    address: deployment,
    name: 'Season 1',
    description: null,
    world: {
      address: idOrAddress,
      name: 'Race track',
      description: 'A quiet country racecourse.',
      domainTags: ['racing'],
    },
    mode: 'upgradable',
    isPaused: false,
    isLLMPublic: false,
    isCodePublic: false,
    lockedAt: null,
    definitionHash: null,
    source: null,
    events: [
      {
        event: 'race-result',
        description: null,
        eventVersion: 1,
        versionHash,
        priceUsd: 0.05,
        payerMayCall: false,
        inputSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { winner: { type: 'string' } },
          required: ['winner'],
          additionalProperties: false,
        },
      },
    ],
    entitySchemas: ['horse'],
    totals: { instances: 1, entries: 5, executions: 1 },
    ...times,
  },
  LiveExecution: entry,
  StreamEnd: { code: 'deployment_not_found' },
  Verification: {
    ...{ valid: true, entries: 5, firstDivergence: null, next: null },
    decisions: { rerun: 3, notRerun: { model: 1 } },
  },
  Checkpoint: {
    checkpoint: `${origin}\n5\n${Buffer.from(rootHash, 'hex').toString('base64')}\n\n\u2014 orrery.example AAAA…\n`,
    ...{ origin, generation: 1, size: 5, rootHash, lost: null },
    keys: [`orrery.example+7fad1a4e+AQ${'A'.repeat(42)}`],
  },
  InclusionProof: {
    ...{ seq: 3, size: 5, leafHash: canonicalHash('leaf'), rootHash },
    path: [canonicalHash('leaf 4'), canonicalHash('leaves 1, 2'), canonicalHash('leaf 5')],
  },
  ConsistencyProof: {
    ...{ from: 3, to: 5, fromRootHash: canonicalHash('leaves 1 to 3'), toRootHash: rootHash },
    path: [
      canonicalHash('leaf 3'),
      canonicalHash('leaf 4'),
      canonicalHash('leaves 1, 2'),
      canonicalHash('leaf 5'),
    ],
  },
  Definition: {
    event: 'race-result',
    versionHash,
    inputSchema: null,
    outputSchema: null,
    readEntities: [],
    stateChanges: { horse: 'partial' },
    behaviorPrompt: null,
    mutationSettings: {
      mode: 'direct',
      template: { stateChanges: { 'horse:{{input.winner}}': { wins: { $increment: 1 } } } },
    },
    executionSettings: null,
    guards: null,
    schemas: {
      horse: {
        name: 'horse',
        attributes: [{ name: 'wins', type: 'integer', constraints: { min: 0 }, defaultValue: 0 }],
        hash: 'e'.repeat(64),
      },
    },
  },
  Payment: payment,
  PaymentTotal: { amount: payment.amount, ...asset, status: payment.status, payments: 1 },
  SolanaPaymentFacts: {
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v',
    decimals: 6,
    tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N',
    lastValidBlockHeight: 3_090,
  },
  Webhook: webhookShown,
  CreatedWebhook: { ...webhookShown, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' },
  WebhookDelivery: {
    number: 1,
    kind: 'entry',
    historyId,
    seq: entry.seq,
    event: entry.event,
    state: 'delivered',
    attempts: 1,
    responseStatus: 204,
    problem: null,
    durationMs: 38,
    createdAt: at('33:00'),
    attemptedAt: at('33:00'),
  },
  Push: { historyId, seq: entry.seq, ...pushed, truncated: false, digest },
  Chain: {
    name: chain,
    caip2: 'eip155:84532',
    family: 'evm',
    status: 'available',
    limits: { contentBytes: 8192, pushesPerTransaction: 50 },
  },
  AiModel: {
    modelId: 'storyteller',
    modelDisplayName: 'Storyteller',
    modelDescription: 'Writes short reports of races.',
    contextLength: 131_072,
    attestationSupported: false,
    verifiable: false,
    isDefault: true,
  },
  DeploymentOverview: {
    ...{ of: 'day', stepSeconds: 1800 },
    steps: [{ at: '2026-11-21T09:30:00.000Z', succeeded: 41, failed: 1 }],
    events: [{ event: 'race-result', succeeded: 41, failed: 1, medianMs: 2.1, p95Ms: 4.3, usd: null }],
    failures: [{ code: 'template_failed', count: 1, events: ['race-result'] }],
    latestFailure: {
      ...{ seq: 18, event: 'race-result', executedAt: at('30:12'), code: 'template_failed' },
      detail: 'No instance "horse:HORSE_9" was read.',
    },
    ...{ countedTo: 57, isBehind: false },
    timers: { pending: 1, overdue: 0, nextDueAt: '2026-11-21T10:30:00.000Z' },
    ...{ payments: [], modelsUsdToday: 0.0042 },
  },
  AiUsage: {
    from: '2026-11-21',
    to: '2026-11-21',
    totals: cost,
    days: [{ day: '2026-11-21', event: 'race-report', ...cost }],
  },
  SchedulePreview: {
    schedule: '0 9 * * *',
    timezone: 'UTC',
    description: 'At 09:00',
    times: ['2026-11-22T09:00:00.000Z', '2026-11-23T09:00:00.000Z'],
  },
  Schedule: {
    event: 'race-result',
    eventVersion: 2,
    schedule: daily.executionSettings.cron.schedule,
    timezone: daily.executionSettings.cron.timezone,
    status: 'active',
    pausedBy: [],
    nextAt: '2026-11-23T08:00:00.000Z',
    lastOccurrence: occurrence,
    counter: 1,
    consecutiveFailures: 0,
    lastError: null,
  },
  Occurrence: occurrence,
  Me: { account, key: { id, scopes: ['read', 'write', 'execute', 'keys'], expiresAt: null } },
  Key: key,
  CreatedKey: { ...key, token },
  Challenge: {
    message: [
      'orrery.example wants you to sign in with your Solana account:',
      wallet,
      '',
      'Create the API key "scoreboard" for Orrery, with the scopes read, good until it is revoked. This costs nothing and moves nothing.',
      '',
      'URI: https://orrery.example',
      'Version: 1',
      'Nonce: 5b1f0c6e9d7a4382',
      `Issued At: ${at('33:00')}`,
      `Expiration Time: ${at('38:00')}`,
    ].join('\n'),
    expiresAt: at('38:00'),
  },
  SignedIn: {
    token,
    keyId: id,
    scopes: ['read', 'write', 'execute', 'keys'],
    expiresAt: '2026-11-22T09:33:00.000Z',
    account,
  },
  SignInMethods: { wallet: true },
  Limits: LIMITS_EXAMPLE,
};
