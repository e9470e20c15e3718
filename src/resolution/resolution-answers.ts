import Joi from 'joi';
import {answerOf, type MediaAnswer, partOf, text, uuid} from '../http/answer.ts';
import {paramsAnswer} from '../links/link-answer.ts';

export const linkDataAnswer = answerOf('LinkData', {linkId: uuid, path: text, params: paramsAnswer});

export const pageAnswer: MediaAnswer = {
	media: ['text/html'],
	about: 'The page that leads into the app; for link previews a static one, without script and not to be indexed.',
};

/** On a custom domain `/:shortCode/data` has this form too (contract/hosts 4). */
export const pageOrDataAnswer: MediaAnswer = {
	...pageAnswer,
	about: `${pageAnswer.about} On a custom domain the path may be a short code and the word data: then the link’s data.`,
	json: linkDataAnswer,
};

export const appleFileAnswer = answerOf('AppleAppSiteAssociation', {
	applinks: partOf({
		details: Joi.array().items(
			partOf({appIDs: Joi.array().items(text), components: Joi.array().items(partOf({'/': text}))}),
		),
	}),
});

export const androidFileAnswer = Joi.array().items(
	answerOf('AssetLink', {
		relation: Joi.array().items(text),
		target: partOf({namespace: text, package_name: text, sha256_cert_fingerprints: Joi.array().items(text)}),
	}),
);

/** Signals that only script can read; missing and invalid ones are ignored (contract/resolution 8). */
export const signalsBody = Joi.object({
	token: Joi.string().max(100).description('The page’s match token.'),
	timezone: Joi.string().max(100).description('IANA time zone; an unknown one is ignored.'),
	languages: Joi.array().items(Joi.string().max(100)),
	screen: Joi.any(),
	pixelRatio: Joi.any(),
	touchPoints: Joi.number(),
	model: Joi.string().max(100),
	platformVersion: Joi.string().max(100),
}).unknown(true);
