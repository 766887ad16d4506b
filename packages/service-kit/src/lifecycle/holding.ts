import { Resources, type ResourcesOptions } from './resources.js';

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
