import {answerOf, instant, text, uuid} from '../http/answer.ts';

/** A channel (contract/links 5). */
export const channelAnswer = answerOf('Channel', {id: uuid, name: text, createdAt: instant});
