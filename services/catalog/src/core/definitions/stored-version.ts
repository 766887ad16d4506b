import type {
  ExecutionSettings,
  FollowUp,
  Guards,
  JsonObject,
  ModeMap,
  MutationSettings,
  ReadEntity,
  ReadHistory,
} from '@orrery/contracts';
import { changedSchemas } from '@orrery/expressions';

/** A version as it is stored: one spelling, one behaviour prompt, null for absent members. */
export interface StoredVersion {
  inputSchema: JsonObject | null;
  outputSchema: JsonObject | null;
  readEntities: ReadEntity[];
  /** Absent where unset: hashes of versions that are older than it do not change. */
  readHistory?: ReadHistory;
  stateChanges: ModeMap | null;
  behaviorPrompt: string | null;
  mutationSettings: Omit<MutationSettings, 'behaviorPrompt'> | null;
  executionSettings: ExecutionSettings | null;
  guards: Guards | null;
  /** Absent: none. It is not in the hash then. */
  followUps?: FollowUp[];
}

/** What a new version starts from. */
export const EMPTY_VERSION: StoredVersion = {
  inputSchema: null,
  outputSchema: null,
  readEntities: [],
  stateChanges: null,
  behaviorPrompt: null,
  mutationSettings: null,
  executionSettings: null,
  guards: null,
};

/** The names of the schemas that a version reads or may change. */
export const schemasNamed = ({ readEntities, stateChanges }: StoredVersion): string[] => [
  ...new Set([...readEntities.map(({ schema }) => schema), ...Object.keys(stateChanges ?? {})]),
];

/** Names of schemas in the keys of a version's template. The world may lack some of them. */
export const schemasInTemplate = ({ mutationSettings }: StoredVersion): string[] =>
  mutationSettings?.template === undefined ? [] : changedSchemas(mutationSettings.template);

/** A version without a map of state changes may change every schema of the world, so it runs with all of them. */
export const usesAllSchemas = ({ stateChanges }: StoredVersion): boolean => stateChanges === null;
