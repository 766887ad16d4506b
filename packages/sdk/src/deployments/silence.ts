import { OrreryError } from '../errors/orrery-error.js';

/** Bounds how long nothing may arrive, however long the whole takes. One wait at a time. */
export interface Silence {
  /** Something has arrived: the time of the wait begins anew. */
  readonly heard: () => void;
  /** @throws OrreryError `network_error` where nothing arrives in time */
  within<T>(awaited: Promise<T>): Promise<T>;
}

export function createSilence(ms: number): Silence {
  let timer: ReturnType<typeof setTimeout>;
  let fail: (() => void) | undefined;
  const heard = () => {
    clearTimeout(timer);
    if (fail) timer = setTimeout(fail, ms);
  };
  return {
    heard,
    within: async (awaited) => {
      const silence = new Promise<never>((_, reject) => {
        const detail = `Nothing arrived for ${ms} ms.`;
        fail = () => reject(new OrreryError({ code: 'network_error', detail }));
        heard();
      });
      try {
        return await Promise.race([awaited, silence]);
      } finally {
        fail = undefined;
        heard();
      }
    },
  };
}
