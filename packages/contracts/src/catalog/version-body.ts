import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { prompt } from '../records/text.js';
import { executionSettings, guards, modeMap, mutationSettings, readEntity } from './version-parts.js';

/** As sent: `mode` may be left out (`direct` with a template, else `ai`); `null` removes a member on update. */
const mutationSettingsBody = z
  .strictObject({
    mode: mutationSettings.shape.mode.optional(),
    template: jsonObject.nullable().optional(),
    behaviorPrompt: prompt.nullable().optional(),
  })
  .meta({ id: 'MutationSettingsBody' });

/** The service checks the schedule itself, so that a missing or bad one is `invalid_cron_schedule`. */
const cronSettingsBody = z
  .strictObject({
    schedule: z.string().max(1024).nullable().optional(),
    timezone: z.string().max(1024).nullable().optional(),
    input: jsonObject.nullable().optional(),
  })
  .meta({ id: 'CronSettingsBody' });

/** As sent: without `visibility` it is `admin`; `null` removes a member on update. */
const executionSettingsBody = z
  .strictObject({
    visibility: executionSettings.shape.visibility.optional(),
    priceUsd: z.number().min(0).max(1_000_000).nullable().optional(),
    cron: cronSettingsBody.nullable().optional(),
  })
  .meta({ id: 'ExecutionSettingsBody' });

/**
 * A version as sent, on create, on update and as `firstVersion`, in every spelling (docs/catalog.md). On update an absent
 * field stays and `null` removes; on create both mean none.
 */
export const versionBody = z
  .strictObject({
    inputSchema: jsonObject.nullable().optional(),
    outputSchema: jsonObject.nullable().optional(),
    readEntities: z.array(readEntity).max(500).nullable().optional(),
    stateChanges: modeMap.nullable().optional(),
    stateChangeSchema: modeMap.nullable().optional(),
    behaviorPrompt: prompt.nullable().optional(),
    mutationSettings: mutationSettingsBody.nullable().optional(),
    executionSettings: executionSettingsBody.nullable().optional(),
    guards: guards.nullable().optional(),
  })
  .meta({ id: 'EventVersionBody' });
export type VersionBody = z.output<typeof versionBody>;
