import type { JsonObject } from '@orrery/contracts';
import type { VersionPlan } from './plan.js';

/** One step of a story. `at` picks a deployment among those made until then. */
export type Command = { at: number } & Step;

export type Step =
  | { kind: 'execute'; event: string; input: JsonObject; dryRun: boolean; key: string | null }
  | { kind: 'create'; schema: string; id: string; state: JsonObject }
  | {
      kind: 'replace';
      schema: string | null;
      id: string;
      state: JsonObject;
      match: 'none' | 'right' | 'wrong';
    }
  | { kind: 'remove'; schema: string | null; id: string }
  | { kind: 'look'; schema: string; id: string; back: number }
  | { kind: 'bind'; bindings: { event: string; eventVersion: number }[] }
  | { kind: 'rebind'; bindings: { event: string; eventVersion: number }[] }
  | { kind: 'unbind'; event: string }
  | { kind: 'turn'; action: 'pause' | 'resume' | 'publish' | 'unpublish' | 'lock' }
  | { kind: 'rename'; name: string }
  | { kind: 'clone'; back: number | null; mode: 'upgradable' | 'locked'; explicit: boolean }
  | { kind: 'end' }
  | { kind: 'redefine'; event: string; version: number; plan: VersionPlan };
