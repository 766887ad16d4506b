import { readFileSync } from 'node:fs';
import { type ChainConfig, chainFile, problemsOf } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';

/**
 * The chains of `CHAINS_FILE`, which the runtime and the chain-pusher both read (docs/on-chain.md).
 * @throws StartupError saying what is wrong in it, and where
 */
export function readChainFile(path: string): readonly ChainConfig[] {
  const parsed = chainFile.safeParse(contentsOf(path));
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error).map(
    ({ pointer, message }) => `${pointer || 'the list'}: ${message}`,
  );
  throw new StartupError(`CHAINS_FILE is not a valid list of chains. Correct it: ${problems.join(' ')}`);
}

function contentsOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new StartupError('CHAINS_FILE cannot be read as JSON: correct its path or its contents.', {
      cause: error,
    });
  }
}
