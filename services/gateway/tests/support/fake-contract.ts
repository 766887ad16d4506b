import { defineContract, OF_ACCOUNT, operationsAt } from '@orrery/contracts';
import { z } from 'zod';

const thing = z.strictObject({ name: z.string() });
const all = operationsAt('/api/things', 'Things');
const one = operationsAt('/api/things/:name', 'Things', {
  params: z.strictObject({ name: z.string().min(1) }),
});

/** One operation of every kind that the route maker knows. */
export const thingContract = defineContract('things', {
  'things.list': all.list('', 'List things', { access: OF_ACCOUNT, item: thing }),
  'things.create': all.write('POST', '', 'Create a thing', {
    http: {
      status: 201,
      location: (_request, data) => `/api/things/${encodeURIComponent(String(data.name))}`,
    },
    access: { scope: 'write', relation: 'account' },
    headers: z.strictObject({ 'idempotency-key': z.string().max(255).optional() }),
    body: z.strictObject({
      name: z.string().min(1),
      parts: z.array(z.strictObject({ size: z.number() })).optional(),
      extra: z.any().optional(),
    }),
    data: thing,
  }),
  'things.get': one.read('', 'Get a thing', { data: thing }),
  'things.update': one.write('PUT', '', 'Update a thing', {
    headers: z.strictObject({ 'if-match': z.string().optional() }),
    body: z.strictObject({ name: z.string().optional() }),
    data: thing,
  }),
  'things.delete': one.remove('Delete a thing'),
  'things.bind': one.write('POST', '/bindings', 'Bind a thing', {
    http: { status: 201 },
    body: z.array(z.strictObject({ event: z.string() })).max(200),
    data: z.array(z.any()),
  }),
  'things.open': operationsAt('/app/things', 'Things', {
    access: { scope: 'none', relation: 'public' },
  }).write('POST', '', 'Open a thing', {
    http: {
      bodyBytes: () => 1024,
      accepted: {
        data: [z.strictObject({ later: z.boolean(), executionId: z.string().optional() })],
        is: (data) => 'later' in data,
      },
    },
    body: z.strictObject({ later: z.boolean().optional() }),
    data: z.any(),
  }),
});
