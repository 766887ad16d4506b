import type { Logger } from '../logging/logger.js';

interface ResourcesOptions {
  readonly logger?: Logger;
  /** How long one release may take before the next one begins, in milliseconds. Default 5,000. */
  readonly releaseTimeoutMs?: number;
}

/**
 * What has been taken and must be given back: last in, first out, each once, also when the start fails
 * half-way. An error or a slow release does not keep the others from being released.
 *
 *     await using resources = new Resources({ logger });
 *     resources.add('postgres', () => pool.end());
 */
export class Resources implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #errors: unknown[] = [];
  readonly #logger: Logger | undefined;
  readonly #releaseTimeoutMs: number;
  #released: Promise<void> | undefined;

  constructor({ logger, releaseTimeoutMs = 5000 }: ResourcesOptions = {}) {
    this.#logger = logger;
    this.#releaseTimeoutMs = releaseTimeoutMs;
  }

  /**
   * Registers how to give something back, and how long that may take, in milliseconds, where it is not what all may.
   * @throws Error when everything has been released already.
   */
  add(name: string, release: () => unknown, timeoutMs = this.#releaseTimeoutMs): void {
    if (this.#stack.disposed) throw new Error(`${name} was taken after the release`);
    this.#stack.defer(() => this.#releaseOne(name, release, timeoutMs));
  }

  /** Registers something disposable, as `add` does, and returns it. */
  use<T extends AsyncDisposable>(name: string, disposable: T, timeoutMs?: number): T {
    // Taken now: `holding` may return this very object and then dispose of it by releasing all, which would wait for itself.
    const release = disposable[Symbol.asyncDispose];
    this.add(name, () => release.call(disposable), timeoutMs);
    return disposable;
  }

  /** Releases everything; repeated calls share one release. @throws AggregateError with all that failed. */
  release(): Promise<void> {
    this.#released ??= this.#releaseAll();
    return this.#released;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #releaseAll(): Promise<void> {
    await this.#stack.disposeAsync();
    if (this.#errors.length > 0)
      throw new AggregateError(this.#errors, `${this.#errors.length} resources could not be released`);
  }

  async #releaseOne(resource: string, release: () => unknown, timeoutMs: number): Promise<void> {
    const startedAt = performance.now();
    try {
      await withinTime(Promise.resolve().then(release), timeoutMs, resource);
      this.#logger?.debug({ resource, ms: Math.round(performance.now() - startedAt) }, 'released');
    } catch (error) {
      this.#logger?.error({ err: error, resource }, 'release failed');
      this.#errors.push(error);
    }
  }
}

async function withinTime(release: Promise<unknown>, ms: number, name: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} was not released within ${ms} ms`)), ms);
  });
  await Promise.race([release, late]).finally(() => clearTimeout(timer));
}

/**
 * Builds something out of resources and ties them to it: disposing the result releases them, and when
 * `build` fails what it had taken until then is released before the error goes on.
 */
export async function holding<T extends object>(
  build: (resources: Resources) => Promise<T>,
  options: ResourcesOptions = {},
): Promise<T & AsyncDisposable> {
  const resources = new Resources(options);
  try {
    return Object.assign(await build(resources), { [Symbol.asyncDispose]: () => resources.release() });
  } catch (error) {
    await resources.release().catch(() => undefined);
    throw error;
  }
}
