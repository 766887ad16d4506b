import { TIMER_LIMITS, WEBHOOK_LIMITS } from '@orrery/contracts';

/** The limits that are in force by default, as `GET /api/limits` answers them. */
export const LIMITS_EXAMPLE = {
  requests: {
    bodyBytes: 1_048_576,
    jsonDepth: 32,
    pageEntries: 100,
    pageDepth: 100_000,
    answerSeconds: 30,
    modelAnswerSeconds: 125,
    rates: {
      keyPerSecond: 100,
      keyBurst: 500,
      publicPerAddressPerMinute: 120,
      publicReadsPerAddressPerMinute: 600,
      publicVerificationsPerAddressPerMinute: 10,
      publicPerWalletPerMinute: 60,
      contractSignaturesPerAddressPerMinute: 20,
      signInPerAddressPerMinute: 10,
    },
  },
  definitions: {
    promptBytes: 32_768,
    descriptionBytes: 4096,
    domainTags: 32,
    domainTagCharacters: 64,
    schemasPerWorld: 500,
    schemasBytesPerWorld: 4_194_304,
    attributesPerSchema: 200,
    schemaBytes: 262_144,
    eventsPerWorld: 500,
    versionsPerEvent: 1000,
    versionBytes: 262_144,
  },
  deployments: {
    bindings: 200,
    instances: 100_000,
    inputBytes: 65_536,
    stateBytes: 65_536,
    entryBytes: 262_144,
    instancesReadPerExecution: 500,
    instancesChangedPerExecution: 500,
    messageMaxAgeSeconds: 300,
    messageMaxAheadSeconds: 60,
  },
  timers: TIMER_LIMITS,
  webhooks: WEBHOOK_LIMITS,
};
