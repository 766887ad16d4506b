import { defineContract, listOperation, operation, pageQuery } from '@orrery/contracts';
import { z } from 'zod';

const thing = z.strictObject({ name: z.string() });
const at = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, status: 200 | 201 = 200) => ({
  method,
  path,
  status,
  tag: 'Things',
  summary: path,
});
const params = z.strictObject({ name: z.string().min(1) });

/** One operation of every kind that the route maker knows. */
export const thingContract = defineContract('things', {
  'things.list': listOperation({
    http: at('GET', '/api/things'),
    access: { scope: 'read', relation: 'account' },
    errors: [],
    query: pageQuery,
    item: thing,
  }),
  'things.create': operation({
    http: {
      ...at('POST', '/api/things', 201),
      location: (_request, data) => `/api/things/${encodeURIComponent(String(data.name))}`,
    },
    access: { scope: 'write', relation: 'account' },
    errors: [],
    headers: z.strictObject({ 'idempotency-key': z.string().max(255).optional() }),
    body: z.strictObject({
      name: z.string().min(1),
      parts: z.array(z.strictObject({ size: z.number() })).optional(),
      extra: z.any().optional(),
    }),
    data: thing,
  }),
  'things.get': operation({
    http: at('GET', '/api/things/:name'),
    access: { scope: 'read', relation: 'visible' },
    errors: [],
    params,
    data: thing,
  }),
  'things.update': operation({
    http: at('PUT', '/api/things/:name'),
    access: { scope: 'write', relation: 'owner' },
    errors: [],
    params,
    headers: z.strictObject({ 'if-match': z.string().optional() }),
    body: z.strictObject({ name: z.string().optional() }),
    data: thing,
  }),
  'things.delete': operation({
    http: at('DELETE', '/api/things/:name'),
    access: { scope: 'write', relation: 'owner' },
    errors: [],
    params,
    data: z.strictObject({ deleted: z.literal(true) }),
  }),
  'things.bind': operation({
    http: at('POST', '/api/things/:name/bindings', 201),
    access: { scope: 'write', relation: 'owner' },
    errors: [],
    params,
    body: z.array(z.strictObject({ event: z.string() })).max(200),
    data: z.array(z.any()),
  }),
  'things.open': operation({
    http: {
      ...at('POST', '/app/things'),
      bodyBytes: () => 1024,
      accepted: { data: z.strictObject({ later: z.boolean() }), is: (data) => 'later' in data },
    },
    access: { scope: 'none', relation: 'public' },
    errors: [],
    body: z.strictObject({ later: z.boolean().optional() }),
    data: z.any(),
  }),
});
