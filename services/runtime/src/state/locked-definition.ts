import type { WorldTexts } from '@orrery/contracts';
import type { DeploymentRow } from './deployment-state.js';

/** What a locked deployment runs, for ever; `definitionHash` is its hash. */
export interface LockedDefinition {
  readonly world: WorldTexts;
  readonly aiModelId: string | null;
  readonly bindings: readonly {
    readonly event: string;
    readonly eventVersion: number;
    readonly versionHash: string;
  }[];
}

/** Undefined while the deployment is not locked. */
export const lockedDefinitionOf = ({
  mode,
  locked_definition: stored,
}: Pick<DeploymentRow, 'mode' | 'locked_definition'>): LockedDefinition | undefined =>
  // Written by the lock.
  mode === 'locked' ? (stored as unknown as LockedDefinition) : undefined;
