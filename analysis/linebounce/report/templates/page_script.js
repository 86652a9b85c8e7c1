"use strict";
{% for script in scripts %}
{% include script %}

{% endfor %}
