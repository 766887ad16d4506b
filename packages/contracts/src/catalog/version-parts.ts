import { z } from 'zod';
import { boundedMap, jsonObject } from '../json/json-schemas.js';
import { name, prompt, storedName } from '../records/fields.js';

export const changeMode = z.enum(['partial', 'full', 'append']).meta({
  id: 'ChangeMode',
  description:
    'How a change meets the state that is there. `partial`: attribute by attribute, null removes one; `full`: the change ' +
    'is the new state; `append`: lists are joined, objects merged, other values replaced.',
});
export type ChangeMode = z.infer<typeof changeMode>;

/** Of a map from names of schemas or attributes. */
const MOST_KEYS = 10_000;

export const modeMap = boundedMap(changeMode, MOST_KEYS).meta({
  id: 'StateChanges',
  description: 'Schema name → mode: the schemas whose instances an execution may change, and how.',
});
export type ModeMap = z.infer<typeof modeMap>;

export const readEntity = z
  .strictObject({
    schema: storedName.describe('Name of the entity schema whose instances are read.'),
    filter: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(32)
      .optional()
      .describe(
        'Paths into the input, with dots and without `input.`: each value found is the instanceId of an instance to read; ' +
          'a list names several, an absent value none. Absent: all instances of the schema are read.',
      ),
    where: z
      .string()
      .min(1)
      .max(2000)
      .optional()
      .describe(
        'A CEL condition over `instance`, `id` and `input`, such as `instance.speed > input.least`: of the instances that ' +
          '`filter` names, or of all, those that satisfy it are read. At most 10,000 are searched.',
      ),
    orderBy: z
      .string()
      .min(1)
      .max(2000)
      .optional()
      .describe('The order of what is found, such as `speed desc, age`; ties by id.'),
    limit: z
      .int()
      .min(1)
      .max(500)
      .optional()
      .describe('How many of them are read at most, the first in the order.'),
  })
  .meta({
    id: 'ReadEntity',
    description: 'Which instances of one schema an execution reads: 500 in all at most.',
  });
export type ReadEntity = z.infer<typeof readEntity>;

const REMEMBERED_EVENTS = 'Names of events: only their executions. Absent: those of every event.';

export const readHistory = z
  .strictObject({
    last: z.int().min(1).max(50).describe('How many executions at most, the latest ones: 1 to 50.'),
    events: z.array(storedName.min(1)).min(1).max(32).optional().describe(REMEMBERED_EVENTS),
    instances: z
      .literal('read')
      .optional()
      .describe('`read`: only executions that changed an instance which this one reads. Absent: all.'),
  })
  .meta({
    id: 'ReadHistory',
    description: 'Which earlier executions of the deployment an execution remembers: 32 KiB in all at most.',
  });
export type ReadHistory = z.infer<typeof readHistory>;

/** What the members of a version's settings mean, as sent and as stored. */
export const SETTINGS_TEXTS = {
  mode: '`direct`: the template makes the changes. `ai`: a model proposes them.',
  template:
    'The changes with `{{ }}` placeholders, in mode `direct`: `{ "stateChanges": …, "result": … }`, or the map of changes ' +
    'alone.',
  behaviorPrompt: 'What the event does, for the model, in mode `ai`. At most 32 KiB as UTF-8 by default.',
  visibility:
    'Who starts executions. `admin`: the owner; `public`: any wallet as well, once the deployment is published; `cron`: ' +
    'its schedule as well.',
  priceUsd: 'What a public execution costs, in US dollars. Absent or 0: nothing.',
  payerMayCall:
    'Whether a payment alone may execute it, without a signed message: the payer is the caller then. It needs a price.',
  randomness:
    'Where its random numbers come from. `drand`: a round of a public beacon that is signed after the request; the execution ' +
    'waits for it, some seconds.',
  cron: 'When it runs by itself; required with the visibility `cron`.',
  schedule: 'Five fields: minute, hour, day of month, month, day of week.',
  timezone: 'The IANA time zone of the schedule, such as `Europe/Vienna`. Absent: UTC.',
  input: 'The input of each run, as a template. Absent: `{}`.',
};

export const mutationSettings = z
  .strictObject({
    mode: z.enum(['ai', 'direct']).describe(SETTINGS_TEXTS.mode),
    template: jsonObject.optional().describe(SETTINGS_TEXTS.template),
    behaviorPrompt: prompt.optional().describe(SETTINGS_TEXTS.behaviorPrompt),
  })
  .meta({ id: 'MutationSettings', description: 'What makes the changes of an execution.' });
export type MutationSettings = z.infer<typeof mutationSettings>;

export const cronSettings = z
  .strictObject({
    schedule: z.string().min(1).max(255).describe(SETTINGS_TEXTS.schedule),
    timezone: z.string().min(1).max(64).optional().describe(SETTINGS_TEXTS.timezone),
    input: jsonObject.optional().describe(SETTINGS_TEXTS.input),
  })
  .meta({ id: 'CronSettings', description: 'When an event runs by itself, and with which input.' });
export type CronSettings = z.infer<typeof cronSettings>;

export const priceUsd = z.number().min(0).max(1_000_000);

export const executionSettings = z
  .strictObject({
    visibility: z.enum(['admin', 'public', 'cron']).describe(SETTINGS_TEXTS.visibility),
    priceUsd: priceUsd.optional().describe(SETTINGS_TEXTS.priceUsd),
    payerMayCall: z.boolean().optional().describe(`${SETTINGS_TEXTS.payerMayCall} Absent: false.`),
    randomness: z
      .enum(['drand'])
      .optional()
      .describe(`${SETTINGS_TEXTS.randomness} Absent: a secret of the deployment.`),
    cron: cronSettings.optional().describe(SETTINGS_TEXTS.cron),
  })
  .meta({ id: 'ExecutionSettings', description: 'Who may execute an event, when, and for how much.' });
export type ExecutionSettings = z.infer<typeof executionSettings>;

export const guards = z
  .strictObject({
    maxInstances: z
      .int()
      .min(0)
      .max(500)
      .optional()
      .describe('How many instances one execution may name in its changes. Absent: 500.'),
    maxDelta: boundedMap(z.number().min(0), MOST_KEYS)
      .optional()
      .describe(
        'Attribute name → how far one execution may move its number, up or down. New instances are not bounded by it.',
      ),
    deny: z
      .array(z.string().min(1).meta({ maxLength: 255 }))
      .max(200)
      .optional()
      .describe(
        'Names of attributes that stay as they are; in new instances they hold their default or nothing.',
      ),
    create: z.boolean().optional().describe('Whether an execution may create instances. Absent: true.'),
    delete: z
      .boolean()
      .optional()
      .describe('Whether an execution may delete instances. Absent: a template may, a model may not.'),
  })
  .meta({
    id: 'Guards',
    description: 'Limits on what an execution may do, whatever its template or model proposes.',
  });
export type Guards = z.infer<typeof guards>;

const expressionText = z.string().min(1).max(2000);

export const followUp = z
  .strictObject({
    event: name
      .optional()
      .describe('Name of the event that is executed next. What is bound under it when it is due runs.'),
    input: jsonObject.optional().describe('Its input, as a template. Absent: `{}`.'),
    after: expressionText
      .optional()
      .describe(
        'How long it waits: an ISO 8601 duration such as `PT90S`, as a template; 1 second at least. `PT0S`, or neither ' +
          '`after` nor `at`: it is the next item of the deployment.',
      ),
    at: expressionText
      .optional()
      .describe('When it is due, in place of `after`: a time by RFC 3339, as a template.'),
    when: expressionText
      .optional()
      .describe('A placeholder such as `{{ result.winner != null }}`: it is left out unless that is true.'),
    key: expressionText
      .optional()
      .describe('Of one key, a template, one timer of the deployment is pending: a new one replaces it.'),
    cancel: expressionText
      .optional()
      .describe('In place of `event`: cancels the pending timer with this key, a template, if there is one.'),
  })
  .meta({ id: 'FollowUp', description: 'What an execution that succeeds sets or cancels (docs/timers.md).' });
export type FollowUp = z.infer<typeof followUp>;

/** Follow-ups of one version. */
export const MOST_FOLLOW_UPS = 8;
export const followUps = z.array(followUp).max(MOST_FOLLOW_UPS);

/** What the members of a version mean, as sent and as stored. */
export const VERSION_TEXTS = {
  inputSchema:
    'The contract of the input: a short map such as `{ "raceId": "string", "laps": "integer?" }`, or JSON Schema 2020-12. ' +
    'Null: any input.',
  outputSchema: 'The contract of the result, in the same two forms. Null: any result.',
  readEntities: 'Which instances an execution reads.',
  readHistory:
    'Which earlier executions it remembers: `history` in templates, a section of the prompt for a model.',
  stateChanges: 'The schemas that may be changed. Null: all schemas of the world, each `partial`.',
  behaviorPrompt:
    'What the event does, for a model. Null: none. With `mutationSettings` it is the same as their `behaviorPrompt`.',
  mutationSettings:
    'What makes the changes. Null: a model if there is a `behaviorPrompt`, else nothing can be run.',
  executionSettings: 'Who may execute it. Null: the visibility `admin`.',
  guards: 'Limits on its changes. Null: none but those of every execution.',
  followUps: 'What each execution that succeeds sets: executions that follow at once or later.',
};

const mutationSettingsBody = z
  .strictObject({
    mode: mutationSettings.shape.mode
      .optional()
      .describe(`${SETTINGS_TEXTS.mode} Absent: \`direct\` with a template, else \`ai\`.`),
    template: jsonObject
      .nullish()
      .describe(`${SETTINGS_TEXTS.template} At most 32 levels and 262,144 characters. Null removes it.`),
    behaviorPrompt: prompt.nullish().describe(`${SETTINGS_TEXTS.behaviorPrompt} Null removes it.`),
  })
  .meta({
    id: 'MutationSettingsBody',
    description: 'What makes the changes of an execution. On update absent members stay.',
  });

/** The service checks the schedule itself, so that a missing or bad one is `invalid_cron_schedule`. */
const cronSettingsBody = z
  .strictObject({
    schedule: z
      .string()
      .max(1024)
      .nullish()
      .describe(`${SETTINGS_TEXTS.schedule} Required, at most 255 characters.`),
    timezone: z.string().max(1024).nullish().describe(`${SETTINGS_TEXTS.timezone} Null: UTC.`),
    input: jsonObject.nullish().describe(`${SETTINGS_TEXTS.input} Null: \`{}\`.`),
  })
  .meta({
    id: 'CronSettingsBody',
    description: 'When an event runs by itself, and with which input. On update it is replaced whole.',
  });

const executionSettingsBody = z
  .strictObject({
    visibility: executionSettings.shape.visibility
      .optional()
      .describe(`${SETTINGS_TEXTS.visibility} Absent: \`admin\`; on update it stays.`),
    priceUsd: priceUsd.nullish().describe(`${SETTINGS_TEXTS.priceUsd} Null removes it.`),
    payerMayCall: z.boolean().nullish().describe(`${SETTINGS_TEXTS.payerMayCall} Null removes it.`),
    randomness: executionSettings.shape.randomness
      .nullable()
      .describe(`${SETTINGS_TEXTS.randomness} Null removes it.`),
    cron: cronSettingsBody.nullish().describe(`${SETTINGS_TEXTS.cron} Null removes it.`),
  })
  .meta({
    id: 'ExecutionSettingsBody',
    description: 'Who may execute an event, when, and for how much. On update absent members stay.',
  });

/** Stored ones may hold what is no name of an event: it was not checked before. */
const readHistoryBody = z
  .strictObject({
    ...readHistory.shape,
    events: z.array(name).min(1).max(32).optional().describe(REMEMBERED_EVENTS),
  })
  .meta({
    id: 'ReadHistoryBody',
    description:
      'Which earlier executions of the deployment an execution is to remember: 32 KiB in all at most.',
  });

/** A version as sent, on create, on update and as `firstVersion`, in every spelling (docs/catalog.md). */
export const versionBody = z
  .strictObject({
    inputSchema: jsonObject.nullish().describe(VERSION_TEXTS.inputSchema),
    outputSchema: jsonObject.nullish().describe(VERSION_TEXTS.outputSchema),
    readEntities: z
      .array(readEntity)
      .max(500)
      .nullish()
      .describe(`${VERSION_TEXTS.readEntities} Null: none.`),
    readHistory: readHistoryBody.nullish().describe(`${VERSION_TEXTS.readHistory} Null: none.`),
    stateChanges: modeMap.nullish().describe(VERSION_TEXTS.stateChanges),
    stateChangeSchema: modeMap
      .nullish()
      .describe('Another name for `stateChanges`. If both are given they must be equal.'),
    behaviorPrompt: prompt
      .nullish()
      .describe(`${VERSION_TEXTS.behaviorPrompt} At most 32 KiB as UTF-8 by default.`),
    mutationSettings: mutationSettingsBody.nullish().describe(VERSION_TEXTS.mutationSettings),
    executionSettings: executionSettingsBody.nullish().describe(VERSION_TEXTS.executionSettings),
    guards: guards.nullish().describe(VERSION_TEXTS.guards),
    followUps: followUps.nullish().describe(`${VERSION_TEXTS.followUps} Null: nothing.`),
  })
  .meta({
    id: 'EventVersionBody',
    description:
      'The definition of an event version, of 256 KiB at most by default. On creation absent and null mean the same. On update absent ' +
      'members stay and null removes; `mutationSettings` and `executionSettings` are merged one level deep, all others ' +
      'are replaced whole.',
  });
export type VersionBody = z.output<typeof versionBody>;
