import type { Migration } from 'kysely/migration';
import { until0011 } from './0001-to-0011.js';
import { until0023 } from './0012-to-0023.js';
import { published } from './0024-published.js';
import { notExecutions } from './0025-not-executions.js';
import { entriesOfVersion2 } from './0026-entries-of-version-2.js';
import { definitions } from './0027-definitions.js';
import { timers } from './0030-timers.js';
import { lifecycleWithoutTimers } from './0031-lifecycle-without-timers.js';
import { whatIf } from './0036-what-if.js';
import { merkleTrees } from './0040-merkle-trees.js';
import { randomness } from './0045-randomness.js';
import { codeAccess } from './0050-code-access.js';
import { generations } from './0052-generations.js';
import { attributeIndexes } from './0053-attribute-indexes.js';
import { activity } from './0055-activity.js';
import { partsOfBlocks } from './0057-parts-of-blocks.js';
import { moves } from './0058-moves.js';
import { failedCode } from './0059-failed-code.js';
import { accountWide } from './0060-account-wide.js';
import { publicDeployments } from './0061-public-deployments.js';
import { locksFirst } from './locks-first.js';

/** In the order of their names; one that has been released is never changed. */
export const migrations: Record<string, Migration> = locksFirst({
  ...until0011,
  ...until0023,
  '0024_published': published,
  '0025_not_executions': notExecutions,
  '0026_entries_of_version_2': entriesOfVersion2,
  '0027_definitions': definitions,
  '0030_timers': timers,
  '0031_lifecycle_without_timers': lifecycleWithoutTimers,
  '0036_what_if': whatIf,
  '0040_merkle_trees': merkleTrees,
  '0045_randomness': randomness,
  '0050_code_access': codeAccess,
  '0052_generations': generations,
  '0053_attribute_indexes': attributeIndexes,
  '0055_activity': activity,
  '0057_parts_of_blocks': partsOfBlocks,
  '0058_moves': moves,
  '0059_failed_code': failedCode,
  '0060_account_wide': accountWide,
  '0061_public_deployments': publicDeployments,
});
