import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { prompt } from '../records/fields.js';
import {
  executionSettings,
  guards,
  modeMap,
  mutationSettings,
  priceUsd,
  readEntity,
  SETTINGS_TEXTS,
  VERSION_TEXTS,
} from './version-parts.js';

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
    cron: cronSettingsBody.nullish().describe(`${SETTINGS_TEXTS.cron} Null removes it.`),
  })
  .meta({
    id: 'ExecutionSettingsBody',
    description: 'Who may execute an event, when, and for how much. On update absent members stay.',
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
  })
  .meta({
    id: 'EventVersionBody',
    description:
      'The definition of an event version, of 256 KiB at most by default. On creation absent and null mean the same. On update absent ' +
      'members stay and null removes; `mutationSettings` and `executionSettings` are merged one level deep, all others ' +
      'are replaced whole.',
  });
export type VersionBody = z.output<typeof versionBody>;
