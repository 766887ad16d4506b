import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { prompt } from '../records/text.js';

/** How entity state may change: `partial` shallow merge, `full` replacement, `append` concatenation. */
export const changeMode = z.enum(['partial', 'full', 'append']).meta({ id: 'ChangeMode' });
export type ChangeMode = z.infer<typeof changeMode>;

/** Schema name → mode: a whitelist of what may be changed. */
export const modeMap = z.record(z.string(), changeMode).meta({ id: 'StateChanges' });
export type ModeMap = z.infer<typeof modeMap>;

export const readEntity = z
  .strictObject({ schema: z.string(), filter: z.array(z.string().min(1).max(255)).min(1).max(32).optional() })
  .meta({ id: 'ReadEntity' });
export type ReadEntity = z.infer<typeof readEntity>;

export const mutationSettings = z
  .strictObject({
    mode: z.enum(['ai', 'direct']),
    template: jsonObject.optional(),
    behaviorPrompt: prompt.optional(),
  })
  .meta({ id: 'MutationSettings' });
export type MutationSettings = z.infer<typeof mutationSettings>;

export const cronSettings = z
  .strictObject({
    schedule: z.string().min(1).max(255),
    timezone: z.string().min(1).max(64).optional(),
    input: jsonObject.optional(),
  })
  .meta({ id: 'CronSettings' });
export type CronSettings = z.infer<typeof cronSettings>;

export const executionSettings = z
  .strictObject({
    visibility: z.enum(['admin', 'public', 'cron']),
    priceUsd: z.number().min(0).max(1_000_000).optional(),
    cron: cronSettings.optional(),
  })
  .meta({ id: 'ExecutionSettings' });
export type ExecutionSettings = z.infer<typeof executionSettings>;

/** Limits on what an execution may do, whatever its template or model proposes. */
export const guards = z
  .strictObject({
    maxInstances: z.int().min(0).max(500).optional(),
    maxDelta: z.record(z.string(), z.number().min(0)).optional(),
    deny: z.array(z.string().min(1)).max(200).optional(),
    create: z.boolean().optional(),
    delete: z.boolean().optional(),
  })
  .meta({ id: 'Guards' });
export type Guards = z.infer<typeof guards>;
