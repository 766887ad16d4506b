import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { endIfRefused, type Session } from '../session/session.js';

/** The one cache of what the API said. A refused key ends the session wherever it was noticed. */
export const createQueryClient = (session: Session): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({ onError: (error) => endIfRefused(session, error) }),
    mutationCache: new MutationCache({ onError: (error) => endIfRefused(session, error) }),
    // The SDK repeats what may be repeated.
    defaultOptions: { queries: { retry: false, staleTime: 5000, refetchOnWindowFocus: true } },
  });
