import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Guard } from '../ui/conflict.js';
import { type Params, tagKeyOf } from './read.js';

/** A guard of the thing at an address, which has been read when the form opens. */
export function useGuard(path: string, params: Params): Guard {
  const client = useQueryClient();
  const now = () => client.getQueryData<string>(tagKeyOf(path, params));
  const tag = useRef(now());
  return {
    headers: () => (tag.current === undefined ? {} : { 'if-match': `"${tag.current}"` }),
    renew: () => {
      tag.current = now();
    },
  };
}
