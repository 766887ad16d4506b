import { query } from '@orrery/testing/servers';
import type { System } from '@orrery/testing/system';

/** The address of the database in which a deployment lives, whatever the shape of the system. */
export async function homeOf({ homes }: Pick<System, 'homes'>, deploymentId: number): Promise<string> {
  for (const home of homes) {
    const found = await query(home, 'select from runtime.journal where deployment_id = $1 limit 1', [
      deploymentId,
    ]);
    if (found.length > 0) return home;
  }
  throw new Error(`deployment ${deploymentId} lives in no database of the system`);
}
