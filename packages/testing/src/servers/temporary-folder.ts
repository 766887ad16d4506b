import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resources } from '@orrery/service-kit';

/** The path of a new folder, which goes with the resources. */
export const temporaryFolder = async (
  resources: Resources,
  name: string,
  parent = tmpdir(),
): Promise<string> => resources.use('folder', await mkdtempDisposable(join(parent, `orrery-${name}-`))).path;
