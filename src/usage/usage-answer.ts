import {answerOf, count, partOf} from '../http/answer.ts';

const quota = partOf({used: count, limit: count.allow(null)});

/** Use of each quota; a `limit` of null is unlimited. */
export const usageAnswer = answerOf('Usage', {links: quota, clicks: quota, members: quota, domains: quota});
