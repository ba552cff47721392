import { isStorable } from '#domain/kernel/json.ts';
import { MqttFailure, publishMqtt } from '#infra/mqtt/publish.ts';
import { buffer } from 'node:stream/consumers';
import Type from 'typebox';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';

const maxPayloadBytes = 256 * 1024;

/** Calls that publish messages to the operator's MQTT broker.
 *  @param url the broker's URL, or `undefined` if there is no broker */
export function mqttCalls(url: URL | undefined): SdkCalls {
  return {
    'mqtt.publish': sdkCall({
      maxBodyBytes: maxPayloadBytes,
      arguments: Type.Object(
        {
          topic: Type.String({ minLength: 1, maxLength: 1_000 }),
          qos: Type.Union([Type.Literal(0), Type.Literal(1)]),
          retain: Type.Boolean(),
        },
        { additionalProperties: false },
      ),
      handle: async ({ topic, qos, retain }, _context, { chunks }) => {
        if (url === undefined) return noBroker;
        if (/[+#]|^\$/.test(topic) || !isStorable(topic)) return badTopic;
        const payload = await buffer(chunks);
        try {
          await publishMqtt(url, { topic, qos, retain, payload });
          return answered();
        } catch (error) {
          if (!(error instanceof MqttFailure)) throw error;
          return refused('unavailable', `The message was not published: ${error.message}.`);
        }
      },
    }),
  };
}

const noBroker = refused('refused', 'The platform has no MQTT broker: ORCH_MQTT_URL is not set.');
const badTopic = refused(
  'invalid_request',
  'A topic must not contain +, # or NUL, and must not start with $.',
);
