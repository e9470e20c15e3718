import {answerOf, instant, text, uuid} from '../http/answer.ts';

/** A channel (decisions 4). */
export const channelAnswer = answerOf('Channel', {id: uuid, name: text, createdAt: instant});
