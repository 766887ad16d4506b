import type { FastifyInstance } from 'fastify';

interface KnownRoute {
  pattern: RegExp;
  methods: readonly string[];
}

/** Which methods a path takes; asked only when no route fits, so it may be slow. */
export interface RouteTable {
  methodsOf(path: string): string[];
}

/** Collects every route that is added to the application from now on. */
export function recordRoutes(app: FastifyInstance): RouteTable {
  const known: KnownRoute[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    known.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return {
    methodsOf: (path) => {
      const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
      return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
