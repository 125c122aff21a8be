"""openpi's own policy server around a policy whose actions tell what it was shown.

Usage: peer.py PORT
"""

import sys

import numpy as np
from openpi_client import base_policy
from openpi_server import WebsocketPolicyServer


class Telltale(base_policy.BasePolicy):
    def infer(self, obs):
        prompt = obs["prompt"]
        if prompt == "fail":
            raise RuntimeError("the policy can't do that")
        if prompt == "nan":
            return {"actions": np.full((5, 7), np.nan)}
        if prompt == "flat":
            return {"actions": np.zeros(35)}
        images = [obs["observation/image"], obs["observation/wrist_image"]]
        assert all(i.dtype == np.uint8 and i.shape == (224, 224, 3) for i in images)
        state = obs["observation/state"]
        assert state.dtype == np.float32 and state.shape == (8,)
        # The first picture is black but for its left half, the second is grey.
        left, right = (images[0][:, part].mean() for part in (slice(0, 112), slice(112, 224)))
        told = [left / 255, right / 255, images[1].mean() / 255, *state[[0, 5, 7]], len(prompt)]
        return {"actions": np.tile(np.array(told, dtype=np.float32), (10, 1))}


WebsocketPolicyServer(Telltale(), host="127.0.0.1", port=int(sys.argv[1])).serve_forever()
