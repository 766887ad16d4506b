export {
  type ChatBody,
  type ModelCall,
  type ModelServer,
  type Profile,
  startModelServer,
} from './model-server.js';
export { completes, fails, MISBEHAVIOUR, refusesForms, refusesParameter, says } from './profiles.js';
