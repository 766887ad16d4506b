import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { ModelList } from '../../core/models/model.js';
import { type ModelFile, ModelFileError, readList } from './model-file.js';

interface FollowModelFileOptions {
  readonly file: ModelFile;
  readonly models: ModelList;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Who says by SIGHUP that the list is to be read again. Left out at a terminal, which ends a process by this signal. */
  readonly host: Pick<NodeJS.Process, 'on' | 'off'> | undefined;
}

/** The file is read this often even if nothing says that it has changed, in milliseconds. */
const INTERVAL_MS = 5000;
/** A program that writes the file needs some time until it is whole, in milliseconds. */
const REST_MS = 100;

/**
 * Reads the list of models again after the file has changed, or after SIGHUP. What is compared is the text: a symbolic
 * link that leads elsewhere (a ConfigMap of Kubernetes) and a file that was replaced count too. A text that is no list
 * changes nothing. It is reported once, when it was seen twice: the first time somebody may be writing it.
 */
export function startFollowingModelFile({
  file,
  models,
  clock,
  logger,
  host,
}: FollowModelFileOptions): PollLoop {
  let known = file.text;
  let refused: { readonly text: string; readonly isReported: boolean } | undefined;

  const look = (): void => {
    let text = '';
    try {
      text = readList(file.path);
      if (text !== known) {
        models.offered = file.parse(text);
        logger.info(
          { file: file.path, models: models.offered.length },
          'the list of AI models was read again',
        );
      }
      known = text;
      refused = undefined;
    } catch (error) {
      if (!(error instanceof ModelFileError)) throw error;
      refuse(text, error.problems);
    }
  };
  const refuse = (text: string, problems: readonly string[]): void => {
    const isSecondLook = refused?.text === text;
    if (isSecondLook && !refused?.isReported)
      logger.error(
        { file: file.path, problems },
        'the list of AI models is not usable: the earlier one stays',
      );
    refused = { text, isReported: isSecondLook };
    if (!isSecondLook) loop.wake();
  };

  const loop = startPollLoop({
    name: 'AI models file',
    intervalMs: INTERVAL_MS,
    restMs: REST_MS,
    clock,
    logger,
    runOnce: async () => {
      look();
      return 'idle';
    },
  });
  const watcher = watchFolder(dirname(file.path), loop.wake, logger);
  // Who asks wants to hear of the problems, also a second time.
  const readAgain = () => {
    refused = undefined;
    loop.wake();
  };
  host?.on('SIGHUP', readAgain);
  const stop = async () => {
    host?.off('SIGHUP', readAgain);
    watcher?.close();
    await loop.stop();
  };
  return { ...loop, stop };
}

/** Calls `changed` when something changes in the folder. Where that cannot be watched, the interval has to do. */
function watchFolder(folder: string, changed: () => void, logger: Logger): FSWatcher | undefined {
  const cannot = (error: unknown) => {
    logger.warn({ err: error, folder }, 'changes of the list of AI models are noticed within seconds only');
  };
  try {
    return watch(folder, { persistent: false }, changed).on('error', cannot);
  } catch (error) {
    cannot(error);
    return undefined;
  }
}
