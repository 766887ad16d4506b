import type { HttpBinding } from './rpc.js';

/** The path of a request with its parameters filled in, each as one encoded segment. */
export const requestPath = ({ path }: Pick<HttpBinding, 'path'>, params: Record<string, unknown>): string =>
  path.replace(/:([A-Za-z]+)/g, (_whole, parameter: string) => encodeURIComponent(String(params[parameter])));
