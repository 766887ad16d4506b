import { readAll, useRead } from './read.js';

export const useKeys = () => useRead(['keys'], (orrery, signal) => readAll(orrery, '/api/keys', { signal }));

export const useMe = () => useRead(['me'], (orrery, signal) => orrery.get('/api/me', { signal }));
