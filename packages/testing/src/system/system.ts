import { holding } from '@orrery/service-kit';
import { PATIENT } from '../programs/patient-release.js';
import { temporaryFolder } from '../servers/temporary-folder.js';
import { startNode } from './node-process.js';

/** A whole Orrery that a test or a benchmark talks to over HTTP. */
export interface System extends AsyncDisposable {
  /** `all-in-one` or `five processes`. */
  readonly shape: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** A key of a first account, with all scopes. */
  readonly key: string;
  readonly databaseUrl: string;
  /** The databases in which deployments live: the same one, unless there are several. */
  readonly homes: readonly string[];
  /** Variables for the command `orrery`: where its database is, and its server if the system is not in a folder of its own. */
  readonly commandEnv: Record<string, string>;
  /** What the processes wrote. */
  output(): string;
}

/** Starts the built all-in-one on a given database, or on an embedded one in a temporary folder. */
export function startAllInOne(databaseUrl?: string, env: Record<string, string> = {}): Promise<System> {
  return holding(async (resources) => {
    const dataDirectory = await temporaryFolder(resources, 'data');
    const commandEnv = {
      ORRERY_DATA_DIR: env['ORRERY_DATA_DIR'] ?? dataDirectory,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    };
    const variables = { PORT: '0', ...commandEnv, ...env };
    const process = startNode('apps/standalone/dist/bundle/main.js', variables);
    resources.use('all-in-one', process);
    const [, url = ''] = await process.waitFor(/(http:\/\/[\d.]+:\d+)/);
    const [key] = await process.waitFor(/orrery_\w{61}/);
    return {
      shape: 'all-in-one',
      url,
      key,
      databaseUrl: databaseUrl ?? '',
      homes: databaseUrl === undefined ? [] : [databaseUrl],
      commandEnv,
      output: process.output,
    };
  }, PATIENT);
}
