import type { PostgresBinaries } from '../binaries/binaries.js';
import type { Account } from '../process/account.js';
import type { Run } from '../process/run-program.js';

/** A data directory and the means to run PostgreSQL's programs on it. */
export interface Cluster {
  /** Absolute, without symbolic links: a running server is recognised by this path in its command line. */
  readonly dataDirectory: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly run: Run;
}
